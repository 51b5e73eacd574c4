package scan

// This file holds the tally: one table being read once and counted for all of
// its measurements.

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"

	"github.com/dprelease/dprelease/histogram/internal/bounding"
	"github.com/dprelease/dprelease/histogram/internal/encoding"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/internal/parallel"
	"github.com/dprelease/dprelease/internal/progress"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/spec"
)

// tally is the counting of one table.
type tally struct {
	task
	encoders []*encoding.Encoder // one per column
	readers  []*encoding.Encoder // the encoders, and behind them those of columns that are only expected to be complete
	where    int                 // the place of the table's predicate among the columns, −1 where it has none
	expect   *expectation
	rules    []rule // the entries of `impossible` that are of the table

	samplers []*bounding.Sampler // one per worker, nil where all units are measured
	link     *link               // of rows that belong to rows of another table, nil where none do

	workers  int
	progress *progress.Reporter
}

// newTally prepares the counting of the measurements of a table.
func newTally(r *spec.Release, table *spec.Table, measurements []plan.Measurement, read []plan.Query,
	workers int) (*tally, error) {
	asked, err := newTask(table, measurements, read)
	if err != nil {
		return nil, err
	}
	t := &tally{task: asked, workers: workers}
	for _, name := range parentColumns(r, table.Name) {
		t.column(table.Column(name))
	}
	t.rules = rulesOf(t, r)
	t.predicate()
	for _, c := range t.columns {
		e, err := c.encoder(table)
		if err != nil {
			return nil, err
		}
		t.readers = append(t.readers, e)
	}
	t.encoders = t.readers[:len(t.readers):len(t.readers)]
	if t.expect, err = newExpectation(table, r.Privacy.Total, len(t.encoders), t.reader); err != nil {
		return nil, err
	}
	return t, nil
}

// reader is the place among the readers of a column, which is added where no
// measurement needs it. Such a column keeps its contract, but no row is left out
// for its sake: what is counted does not depend on what is expected.
func (t *tally) reader(c *spec.Column) (int, error) {
	if i := slices.IndexFunc(t.readers, func(e *encoding.Encoder) bool { return e.Column == c && !e.Numbers }); i >= 0 {
		return i, nil
	}
	e, err := wanted{column: c}.encoder(t.table)
	if err != nil {
		return 0, err
	}
	t.readers = append(t.readers, e)
	return len(t.readers) - 1, nil
}

// scan counts the table's files. limit is the memory that bounding and tables may
// take. A breach of the contract ends the counting; reading goes on until enough of
// them are collected. Where that is the end of the files, what they are expected to
// hold is judged as well. What is returned does not depend on the number of workers.
//
// Where units have ids, the files are read twice: first the ids and the columns that
// can have rows left out, which says which rows stay, then the columns that are counted.
// Where queries allow a unit fewer rows than its table, the ids are read once more between
// the two, with the columns that say which groups rows are of; and so they are of a parent, with the
// columns that its children's rows have. Of linked tables the ids of all are read before any is counted.
func (t *tally) scan(ctx context.Context, dir string, s *noise.RowStreams, limit int64) error {
	if err := t.sample(s); err != nil {
		return err
	}
	if t.table.Unit.Row {
		return t.countRows(ctx, dir, nil, make([]*bounding.Kept, 1), limit)
	}
	if t.link != nil {
		if err := t.link.read(ctx, dir, s, limit); err != nil {
			return err
		}
		rows := t.link.kept[t]
		t.diagnose(rows.stay)
		return t.countRows(ctx, dir, rows.last, rows.stay, limit-t.link.held.Load())
	}
	p, stay, err := t.settled(ctx, dir, s, limit)
	if err != nil {
		return err
	}
	t.diagnose(stay)
	return t.countRows(ctx, dir, p, stay, limit)
}

// settled is staying, with the first error in reading order.
func (t *tally) settled(ctx context.Context, dir string, s *noise.RowStreams, limit int64) (p *pass, stay []*bounding.Kept,
	err error) {
	p, stay, err = t.staying(ctx, dir, s, limit)
	if err == nil {
		return p, stay, nil
	}
	pieces, ok := p.toExamine(err)
	if !ok || ctx.Err() != nil {
		return p, nil, err
	}
	// What came first in reading order: this, or a breach that other columns show.
	whole := t.wholePass(true)
	whole.until = pieces
	if other := whole.run(ctx, dir); other != nil {
		return p, nil, other
	}
	if errors.Is(err, errBreached) {
		return p, nil, parallel.ErrBug
	}
	return p, nil, p.named(err)
}

// staying reads the ids and says which rows stay for each of the tally's allowances; a parent's rows are taken into the
// link. p is the last reading.
func (t *tally) staying(ctx context.Context, dir string, s *noise.RowStreams, limit int64) (p *pass, stay []*bounding.Kept,
	err error) {
	p, own, err := t.bound(ctx, dir, s, limit)
	stay = []*bounding.Kept{own}
	if err == nil && len(t.allowances) > 1 {
		p, stay, err = t.choose(ctx, dir, s, p, own, limit)
	}
	if err == nil && t.isParent() {
		p, err = t.link.fill(ctx, dir, p, own)
	}
	return p, stay, err
}

// countRows counts the rows that stay: all that are not left out, or those that
// bounding, by the pass before, has kept, by each of the tally's allowances.
func (t *tally) countRows(ctx context.Context, dir string, before *pass, stay []*bounding.Kept, limit int64) error {
	p := t.wholePass(false)
	p.before = before
	var counted *counting
	var workers []*countingWorker
	var left atomic.Int64 // rows that are left out
	p.begin = func(rows int64) (err error) {
		if counted, err = t.counting(rows, limit, t.workers); err != nil {
			return err
		}
		for range t.workers {
			workers = append(workers, counted.worker())
		}
		return nil
	}
	p.take = func(worker, piece int, first int64, c *chunk, out []uint64) error {
		left.Add(ones(c.inside(out)))
		if t.table.Unit.Row { // else units were drawn before their rows were bounded
			out = t.drawn(worker, c, piece, first, out)
		}
		return workers[worker].add(c.codes[:len(t.encoders)], c.rows, func(allowance int) []uint64 {
			return c.stay(stay[allowance], piece, first, out)
		})
	}
	if err := p.run(ctx, dir); err != nil {
		return err
	}
	if t.table.Unit.Row {
		t.diagnoseRows(left.Load())
	}
	return parallel.Guarded(func(int) error { return counted.finish(ctx) }, 0)
}

// wholePass reads all columns.
func (t *tally) wholePass(ids bool) *pass {
	p := &pass{tally: t, whole: true, ids: ids, decides: ids || t.table.Unit.Row}
	for i := range t.readers {
		p.readers = append(p.readers, i)
	}
	return p
}

// leaving are the readers of the columns that can have a row left out.
func (t *tally) leaving() (readers []int) {
	for i, e := range t.encoders {
		if e.LeavesOut() || slices.ContainsFunc(t.rules,
			func(r rule) bool { return r.drop && slices.Contains(r.columns, i) }) {
			readers = append(readers, i)
		}
	}
	return readers
}

// bound reads the ids and says which rows stay.
func (t *tally) bound(ctx context.Context, dir string, s *noise.RowStreams, limit int64) (p *pass, k *bounding.Kept,
	err error) {
	p = &pass{tally: t, ids: true, decides: true, readers: t.leaving()}
	for _, w := range t.expect.watches {
		place(&p.readers, w.reader)
	}
	var bound *bounding.Bounding
	defer func() {
		if bound != nil {
			if closing := bound.Close(); err == nil {
				err = closing
			}
		}
	}()
	var workers []*bounding.Worker
	p.begin = func(rows int64) (err error) {
		bound, err = bounding.New(bounding.OfRows(t.table.Unit.MaxRows), s.Bounding(t.table.Name),
			bounding.Options{Memory: limit, Workers: t.workers,
				Rows: rows})
		for range t.workers {
			if err == nil {
				workers = append(workers, bound.Worker())
			}
		}
		return err
	}
	p.take = func(worker, piece int, first int64, c *chunk, out []uint64) error {
		if err := t.countSizes(piece, c, out); err != nil {
			return err
		}
		return workers[worker].Add(piece, first, c.ids, nil, t.drawn(worker, c, piece, first, out))
	}
	if err = p.run(ctx, dir); err == nil {
		err = parallel.Guarded(func(int) (err error) {
			k, err = bound.Finish(ctx)
			return err
		}, 0)
	}
	return p, k, err
}
