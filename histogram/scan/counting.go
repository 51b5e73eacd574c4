package scan

// This file holds the counting: what all queries of a table add up at once, once it is known which rows stay.

import (
	"context"
	"slices"

	"github.com/dprelease/dprelease/histogram/internal/answer"
	"github.com/dprelease/dprelease/internal/tabulate"
)

// counting counts the rows of a table for all its queries.
type counting struct {
	task    *task
	limit   int64
	batches []*batch
}

// batch is queries whose rows add the same value, and of whose units the same rows are counted: a counter counts them
// together.
type batch struct {
	value, allowance int // among the task's
	queries          []*query
	counter          *tabulate.Counter
}

// counting plans how all queries are counted. rows is about how many there will be, 0 where that is not known, limit
// the memory that tables may take, and workers how many goroutines add rows at the most.
func (t *task) counting(rows, limit int64, workers int) (*counting, error) {
	c := &counting{task: t, limit: limit}
	for _, q := range t.tabulated {
		i := slices.IndexFunc(c.batches, func(b *batch) bool { return b.value == q.value && b.allowance == q.allowance })
		if i < 0 {
			i = len(c.batches)
			c.batches = append(c.batches, &batch{value: q.value, allowance: q.allowance})
		}
		c.batches[i].queries = append(c.batches[i].queries, q)
	}
	slices.SortStableFunc(c.batches, func(a, b *batch) int { return a.allowance - b.allowance })
	for _, b := range c.batches {
		r := tabulate.Request{Rows: max(rows, 0), Workers: workers, Memory: limit / int64(len(c.batches)),
			Summed: b.value > 0}
		var used []int // of the task's attributes
		for _, q := range b.queries {
			ask := tabulate.Ask{Occupied: q.sparse}
			for _, a := range q.attributes {
				ask.Axes = append(ask.Axes, place(&used, a))
			}
			r.Asks = append(r.Asks, ask)
		}
		for _, a := range used {
			r.Axes = append(r.Axes, t.axis(t.attributes[a]))
		}
		var err error
		if b.counter, err = tabulate.New(r); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// countingWorker is what one goroutine counts rows by.
type countingWorker struct {
	*counting
	workers []*tabulate.Worker // of each batch
	clamped clamped
	added   []int64 // what each row adds
}

// worker returns a worker for one more goroutine.
func (c *counting) worker() *countingWorker {
	w := &countingWorker{counting: c, clamped: clamped{clamps: c.task.clamps}}
	for _, b := range c.batches {
		w.workers = append(w.workers, b.counter.Worker())
	}
	return w
}

// Add counts rows, given as the codes of the task's columns. stay says which of them are counted by an allowance, a
// bit per row and nil for all; what it returns is valid until it is called again.
func (w *countingWorker) add(codes []tabulate.Codes, rows int, stay func(allowance int) []uint64) error {
	columns := w.clamped.of(codes, rows)
	var keep []uint64
	for i, b := range w.batches {
		if i == 0 || b.allowance != w.batches[i-1].allowance {
			keep = stay(b.allowance)
		}
		var added []int64
		if v := w.task.values[b.value]; v != nil {
			w.added = slices.Grow(w.added[:0], rows)[:rows]
			added = w.added
			v.of(columns, added)
		}
		if err := w.workers[i].Add(columns, rows, keep, added); err != nil {
			return within(w.limit, err)
		}
	}
	return nil
}

// finish gives the queries what was counted.
//
// Errors: errLargeSum where a sum has more than 61 bits; *[memory.Error]; those of the context.
func (c *counting) finish(ctx context.Context) error {
	for _, b := range c.batches {
		tables, err := b.counter.Finish(ctx)
		if err != nil {
			return within(c.limit, err)
		}
		b.counter = nil
		for i, q := range b.queries {
			if err := q.take(tables[i], c.task); err != nil {
				return err
			}
		}
	}
	return nil
}

// take keeps what was counted for a query.
func (q *query) take(t tabulate.Table, of *task) error {
	// Rows that count as 1 are too few for that: only sums are looked at.
	if t.High != nil || of.values[q.value] != nil && slices.ContainsFunc(t.Counts, large) {
		return errLargeSum
	}
	q.Answer = answer.Answer{Cells: t.Cells, Counts: t.Counts, Narrow: t.Narrow}
	switch {
	case q.occupied:
		q.Counts, q.Cells = occupied(t.Cells, of.cellsOf(q.attributes[:len(q.attributes)-1]),
			of.axis(of.attributes[q.attributes[len(q.attributes)-1]]).Size), nil
	case t.Cells != nil && of.values[q.value] != nil:
		q.Cells, q.Counts = filled(t.Cells, t.Counts)
	}
	return nil
}

// large tells that a sum has more than 61 bits.
func large(sum int64) bool { return sum > answer.Most || sum < -answer.Most }

// filled are the cells whose counts are not 0: with weights there are others, all of whose rows weigh nothing.
func filled(cells []uint64, counts []int64) ([]uint64, []int64) {
	n := 0
	for i, count := range counts {
		if count != 0 {
			cells[n], counts[n] = cells[i], count
			n++
		}
	}
	return cells[:n], counts[:n]
}
