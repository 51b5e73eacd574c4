package histogram

// This file holds the tally: one table being read once and counted for all of
// its measurements.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/dprelease/dprelease/histogram/source"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/spec"
)

// tally is the counting of one table.
type tally struct {
	table      *spec.Table
	columns    []*spec.Column // that the measurements need
	encoders   []*encoder     // one per column
	readers    []*encoder     // the encoders, and behind them those of columns that are only expected to be complete
	expect     *expectation
	attributes []attribute
	rules      []rule   // the entries of `impossible` that are of the table
	queries    []*query // one per measurement of the table, in the plan's order

	sources []string // source columns to read
	from    []int    // where among them the column of each reader is
	id      int      // where among them the id is

	workers int
	mem     memory.Allocator
}

// newTally compiles the measurements of a table.
func newTally(r *spec.Release, table *spec.Table, measurements []plan.Measurement, shown []plan.Query, workers int) (*tally, error) {
	t := &tally{table: table, workers: workers, mem: memory.DefaultAllocator}
	for _, m := range measurements {
		if m.Query.Table != table.Name {
			continue
		}
		q, err := t.compile(m)
		if err != nil {
			return nil, err
		}
		t.queries = append(t.queries, q)
	}
	if err := t.show(shown); err != nil {
		return nil, err
	}
	t.rules = rulesOf(t, r)
	for _, c := range t.columns {
		e, err := newEncoder(table.Name, c)
		if err != nil {
			return nil, err
		}
		t.read(e)
	}
	t.encoders = t.readers[:len(t.readers):len(t.readers)]
	var err error
	if t.expect, err = newExpectation(table, t.reader); err != nil {
		return nil, err
	}
	if !table.Unit.Row {
		t.id = t.sourceColumn(table.Unit.ID)
	}
	return t, nil
}

// show adds the columns of marginals that are shown, whether or not anything of them is
// measured: a column of one category has no residual, and its rows that are left out
// are left out all the same.
func (t *tally) show(shown []plan.Query) error {
	for _, q := range shown {
		if q.Table != t.table.Name {
			continue
		}
		for _, f := range q.Factors {
			column := t.table.Column(f.Attribute)
			if column == nil {
				return fmt.Errorf("table %s has no column %q", t.table.Name, f.Attribute)
			}
			level, ok := column.Domain.Level(f.Level)
			if !ok {
				return fmt.Errorf("%s: the column has no such level", f)
			}
			t.attribute(column, level)
		}
	}
	return nil
}

// read adds an encoder to those that read.
func (t *tally) read(e *encoder) {
	t.readers = append(t.readers, e)
	t.from = append(t.from, t.sourceColumn(e.column.From))
}

// reader is the place among the readers of a column, which is added where no
// measurement needs it. Such a column keeps its contract, but no row is left out
// for its sake: what is counted does not depend on what is expected.
func (t *tally) reader(c *spec.Column) (int, error) {
	if i := slices.IndexFunc(t.readers, func(e *encoder) bool { return e.column == c }); i >= 0 {
		return i, nil
	}
	e, err := newEncoder(t.table.Name, c)
	if err != nil {
		return 0, err
	}
	t.read(e)
	return len(t.readers) - 1, nil
}

// sourceColumn is the place of a source column among those to read. Two columns,
// or a column and the id, may come from one.
func (t *tally) sourceColumn(name string) int {
	if i := slices.Index(t.sources, name); i >= 0 {
		return i
	}
	t.sources = append(t.sources, name)
	return len(t.sources) - 1
}

// scan counts the table's files. limit is the memory that bounding may hold. A
// breach of the contract ends the counting; reading goes on until enough of them
// are collected. Where that is the end of the files, what they are expected to
// hold is judged as well. What is returned does not depend on the number of workers.
func (t *tally) scan(ctx context.Context, dir string, s *noise.Streams, limit int64) (err error) {
	rows, err := source.OpenRecords(ctx, dir, t.table.Source, t.sources)
	if err != nil {
		return err
	}
	defer func() {
		if closing := rows.Close(); err == nil {
			err = closing
		}
	}()
	var bound *bounder
	if !t.table.Unit.Row {
		bound = newBounder(t.table.Unit, s.Bounding(t.table.Name), t.encoders, limit)
	}
	var breaches []breach
	batches := batches{tally: t, rows: rows}
	for len(breaches) < breachLimit {
		var batch []*record
		if batch, err = batches.next(ctx); err != nil {
			break
		}
		for _, r := range batch {
			breaches = collect(breaches, r.breaches)
		}
		if len(breaches) == 0 {
			err = t.take(ctx, batch, bound)
		}
		for _, r := range batch {
			r.release()
		}
		if err != nil {
			return err
		}
	}
	breaches = breaches[:min(len(breaches), breachLimit)]
	if errors.Is(err, io.EOF) {
		breaches = append(breaches, t.expect.breaches()...)
	}
	switch {
	case len(breaches) > 0:
		return newContractError(breaches)
	case !errors.Is(err, io.EOF):
		return err
	case bound != nil:
		return t.countKept(ctx, bound)
	}
	return nil
}

// take counts a batch or, where units have ids, hands it to the bounder in
// reading order.
func (t *tally) take(ctx context.Context, batch []*record, bound *bounder) error {
	if bound == nil {
		chunks := make([]chunk, len(batch))
		for i, r := range batch {
			chunks[i] = r.chunk
		}
		return t.count(ctx, chunks)
	}
	for _, r := range batch {
		if err := bound.add(r); err != nil {
			return err
		}
	}
	return nil
}

// countKept counts the rows that bounding kept.
func (t *tally) countKept(ctx context.Context, bound *bounder) error {
	for from := 0; from < bound.chunks(); from += t.workers {
		chunks := make([]chunk, min(t.workers, bound.chunks()-from))
		err := parallel(ctx, t.workers, len(chunks), func(i int) error {
			chunks[i] = bound.chunk(t.mem, from+i)
			return nil
		})
		if err == nil {
			err = t.count(ctx, chunks)
		}
		for _, c := range chunks {
			c.release()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// count adds chunks to all queries: first the level codes of each chunk, then
// the cells of each query. A query belongs to one goroutine at a time, so there
// is one set of counts whatever the number of workers.
func (t *tally) count(ctx context.Context, chunks []chunk) error {
	levels := make([][][]uint32, len(chunks))
	err := parallel(ctx, t.workers, len(chunks), func(i int) error {
		levels[i] = make([][]uint32, len(t.attributes))
		for a, at := range t.attributes {
			levels[i][a] = levelCodes(chunks[i].columns[at.column], at.level)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return parallel(ctx, t.workers, len(t.queries), func(q int) error {
		for i, c := range chunks {
			t.queries[q].add(c.rows, levels[i])
		}
		return nil
	})
}

// batches reads and encodes a record per worker at a time.
type batches struct {
	tally *tally
	rows  *source.Records
	err   error // met behind the last batch
}

// next returns the next records in reading order, or the error behind them. The
// caller releases them.
func (b *batches) next(ctx context.Context) ([]*record, error) {
	type place struct {
		raw   arrow.Record
		file  string
		first int64
	}
	var read []place
	for len(read) < b.tally.workers && b.err == nil {
		p := place{}
		if p.raw, b.err = b.rows.Next(ctx); b.err == nil {
			p.file, p.first = b.rows.Position()
			read = append(read, p)
		}
	}
	if len(read) == 0 {
		return nil, b.err
	}
	batch := make([]*record, len(read))
	err := parallel(ctx, b.tally.workers, len(read), func(i int) error {
		batch[i] = b.tally.encodeRecord(read[i].raw, read[i].file, read[i].first)
		return nil
	})
	for i, p := range read {
		p.raw.Release()
		if err != nil && batch[i] != nil {
			batch[i].release()
		}
	}
	if err != nil {
		return nil, err
	}
	return batch, nil
}
