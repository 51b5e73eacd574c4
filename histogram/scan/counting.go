package scan

// This file holds the table counter: it counts the rows of a table for all its queries at once, once it is known
// which rows stay.

import (
	"context"
	"slices"

	"github.com/dprelease/dprelease/histogram/internal/answer"
	"github.com/dprelease/dprelease/internal/tabulate"
)

// tableCounter counts the rows of a table for all its queries.
type tableCounter struct {
	task    *task
	limit   int64
	batches []*batch
}

// batch is queries whose rows add the same value and that count the same rows of each unit. One counter counts them
// together.
type batch struct {
	value, allowance int // indexes among the task's values and allowances
	queries          []*query
	counter          *tabulate.Counter
}

// newTableCounter plans how all queries are counted. rows is about how many rows there will be, 0 if that is not
// known; limit is the memory that tables may take; workers is the largest number of goroutines that add rows.
func (t *task) newTableCounter(rows, limit int64, workers int) (*tableCounter, error) {
	c := &tableCounter{task: t, limit: limit}
	for _, q := range t.tabulated {
		i := slices.IndexFunc(c.batches, func(b *batch) bool {
			return b.value == q.value &&
				b.allowance == q.allowance
		})
		if i < 0 {
			i = len(c.batches)
			c.batches = append(c.batches, &batch{value: q.value, allowance: q.allowance})
		}
		c.batches[i].queries = append(c.batches[i].queries, q)
	}
	slices.SortStableFunc(c.batches, func(a, b *batch) int { return a.allowance - b.allowance })
	for _, b := range c.batches {
		r := tabulate.Request{Rows: max(rows, 0), Workers: workers, Memory: limit / int64(len(c.batches)),
			HasAddends: b.value > 0}
		var used []int // indexes of the task's attributes
		for _, q := range b.queries {
			ask := tabulate.TableRequest{Occupied: q.sparse}
			for _, a := range q.attributes {
				ask.Axes = append(ask.Axes, indexOrAppend(&used, a))
			}
			r.Tables = append(r.Tables, ask)
		}
		for _, a := range used {
			r.Axes = append(r.Axes, t.axisOf(t.attributes[a]))
		}
		var err error
		if b.counter, err = tabulate.New(r); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// tableWorker counts the rows of one goroutine.
type tableWorker struct {
	*tableCounter
	workers []*tabulate.Worker // by batch
	clamped clampedCodes
	added   []int64 // what each row adds to its cell
}

// newWorker returns a worker for one more goroutine.
func (c *tableCounter) newWorker() *tableWorker {
	w := &tableWorker{tableCounter: c, clamped: clampedCodes{clamps: c.task.clamps}}
	for _, b := range c.batches {
		w.workers = append(w.workers, b.counter.Worker())
	}
	return w
}

// addRows counts rows, given as the codes of the task's columns. stay returns which of them an allowance counts: a
// bit per row, nil for all rows. Its result is valid until the next call of stay.
func (w *tableWorker) addRows(codes []tabulate.Codes, rows int, stay func(allowance int) []uint64) error {
	columns := w.clamped.columnsOf(codes, rows)
	var keep []uint64
	for i, b := range w.batches {
		if i == 0 || b.allowance != w.batches[i-1].allowance {
			keep = stay(b.allowance)
		}
		var added []int64
		if v := w.task.values[b.value]; v != nil {
			w.added = slices.Grow(w.added[:0], rows)[:rows]
			added = w.added
			v.writeValues(columns, added)
		}
		if err := w.workers[i].Add(columns, rows, keep, added); err != nil {
			return describeShortage(w.limit, err)
		}
	}
	return nil
}

// finishQueries gives each query its counts.
//
// Errors: errLargeSum if a sum has more than 61 bits; *[memory.Error]; those of the context.
func (c *tableCounter) finishQueries(ctx context.Context) error {
	for _, b := range c.batches {
		tables, err := b.counter.Finish(ctx)
		if err != nil {
			return describeShortage(c.limit, err)
		}
		b.counter = nil
		for i, q := range b.queries {
			if err := q.setAnswer(tables[i], c.task); err != nil {
				return err
			}
		}
	}
	return nil
}

// setAnswer sets the answer of a query from its table of counts.
func (q *query) setAnswer(t tabulate.Table, of *task) error {
	if t.High != nil {
		return errLargeSum
	}
	q.Answer = answer.Answer{Cells: t.Cells, Counts: t.Counts, Compact: t.Compact}
	if of.part {
		return nil
	}
	return q.finish(of)
}

// finish makes the counts of all rows of a query its answer.
func (q *query) finish(of *task) error {
	// Only sums can be that large: there are too few rows if each counts as 1.
	if of.values[q.value] != nil && slices.ContainsFunc(q.Counts, exceedsBits) {
		return errLargeSum
	}
	switch {
	case q.countsOccupied:
		q.Counts, q.Cells = countOccupied(q.Cells, of.cellsOf(q.attributes[:len(q.attributes)-1]),
			of.axisOf(of.attributes[q.attributes[len(q.attributes)-1]]).Size), nil
	case q.Cells != nil && of.values[q.value] != nil:
		q.Cells, q.Counts = withoutZeros(q.Cells, q.Counts)
	}
	return nil
}

// exceedsBits reports whether a sum has more than 61 bits.
func exceedsBits(sum int64) bool { return sum > answer.MaxMagnitude || sum < -answer.MaxMagnitude }

// withoutZeros returns the cells whose counts are not 0. With weights a cell may have rows and a count of 0, because
// all of its rows weigh 0.
func withoutZeros(cells []uint64, counts []int64) ([]uint64, []int64) {
	n := 0
	for i, count := range counts {
		if count != 0 {
			cells[n], counts[n] = cells[i], count
			n++
		}
	}
	return cells[:n], counts[:n]
}
