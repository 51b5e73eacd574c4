package scan

// This file holds the tally, which reads one table and counts it for all of its measurements.

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"

	"github.com/dprelease/dprelease/histogram/internal/bounding"
	"github.com/dprelease/dprelease/histogram/internal/encoding"
	"github.com/dprelease/dprelease/histogram/source"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/internal/parallel"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/spec"
)

// tally is the counting of one table.
type tally struct {
	task
	encoders []*encoding.Encoder // by column
	readers  []*encoding.Encoder // the encoders, followed by those of columns that are only expected to be complete
	where    int                 // index of the table's predicate among the columns, −1 without a predicate
	contents []int               // columns whose codes are the content of a row, in order
	expect   *expectation
	rules    []rule // the entries of `impossible` for the table

	samplers []*bounding.Sampler // by worker, nil if all units are measured
	link     *link               // nil if the table has no parent and no children

	division division // of units among machines
	merged   bool     // what the parts have found was put together

	workers int
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
		t.categoryColumn(table.Column(name))
	}
	t.rules = rulesOf(t, r)
	t.addPredicate()
	for _, c := range t.columns {
		e, err := c.newEncoder(table)
		if err != nil {
			return nil, err
		}
		t.readers = append(t.readers, e)
	}
	t.encoders = t.readers[:len(t.readers):len(t.readers)]
	t.contents = t.contentColumns()
	if t.expect, err = newExpectation(table, r.Privacy.Total, len(t.encoders), t.readerOf); err != nil {
		return nil, err
	}
	t.expect.leaves = t.leavesOut(r)
	return t, nil
}

// leavesOut reports whether the spec can leave rows of the table out, before any unit's rows are bounded.
func (t *tally) leavesOut(r *spec.Release) bool {
	return !t.table.Unit.Row && t.table.Unit.Null == spec.Drop || t.table.DropsUnweighted() || t.table.Where != nil ||
		r.ParentOf(t.table.Name) != "" || len(t.leavingReaders()) > 0
}

// readerOf returns the index of a column among the readers, and adds the column if no measurement needs it. Such a
// column must keep its contract, but no row is left out because of it: counts do not depend on what is expected.
func (t *tally) readerOf(c *spec.Column) (int, error) {
	if i := slices.IndexFunc(t.readers, func(e *encoding.Encoder) bool { return e.Column == c && !e.Numbers }); i >= 0 {
		return i, nil
	}
	e, err := wantedColumn{column: c}.newEncoder(t.table)
	if err != nil {
		return 0, err
	}
	t.readers = append(t.readers, e)
	return len(t.readers) - 1, nil
}

// countFiles counts the table's files. limit is the memory that bounding and tables may take. A breach of the
// contract ends the counting, and reading goes on until enough breaches are collected. If that is the end of the
// files, countFiles also checks what the files are expected to hold. The result does not depend on the number of
// workers.
//
// If units have ids, the files are read twice: first the ids and the columns that can have rows left out, which
// decides which rows stay, then the columns that are counted. In between they are read once more if some unit has more
// rows than it may, and once more if queries allow a unit fewer rows than its table does: ids and all that is counted,
// to choose among the rows of a unit. The ids of a parent are also read once more, with the columns that its children's
// rows have. The ids of all linked tables are read before any of the tables is counted.
func (t *tally) countFiles(ctx context.Context, from source.Data, s *noise.RowStreams, limit int64) error {
	if err := t.prepareSample(s); err != nil {
		return err
	}
	if t.table.Unit.Row {
		return t.countRows(ctx, from, nil, make([]*bounding.KeptRows, 1), limit)
	}
	if t.link != nil {
		if err := t.link.readAll(ctx, from, s, limit); err != nil {
			return err
		}
		rows := t.link.readings[t]
		t.answerDiagnostics(rows.retained)
		return t.countRows(ctx, from, rows.last, rows.retained, limit-t.link.held.Load())
	}
	p, stay, err := t.chooseOrExamine(ctx, from, s, limit)
	if err != nil {
		return err
	}
	t.answerDiagnostics(stay)
	return t.countRows(ctx, from, p, stay, limit)
}

// chooseOrExamine is chooseAll, but returns the first error in reading order.
func (t *tally) chooseOrExamine(ctx context.Context, from source.Data, s *noise.RowStreams,
	limit int64) (p *pass, stay []*bounding.KeptRows, err error) {
	p, stay, err = t.chooseAll(ctx, from, s, limit)
	if err == nil {
		return p, stay, nil
	}
	pieces, ok := p.toExamine(err)
	if !ok || ctx.Err() != nil {
		return p, nil, err
	}
	// This error or a breach in another column came first in reading order.
	whole := t.wholePass(true)
	whole.until = pieces
	if other := whole.run(ctx, from); other != nil {
		return p, nil, other
	}
	if errors.Is(err, errBreached) {
		return p, nil, parallel.ErrBug
	}
	return p, nil, p.nameFile(err)
}

// chooseAll reads the ids and decides which rows stay for each of the tally's allowances. It adds a parent's rows to
// the link. p is the last reading.
func (t *tally) chooseAll(ctx context.Context, from source.Data, s *noise.RowStreams,
	limit int64) (p *pass, stay []*bounding.KeptRows, err error) {
	p, own, err := t.boundUnits(ctx, from, s, limit)
	stay = []*bounding.KeptRows{own}
	if err == nil && len(t.allowances) > 1 {
		p, stay, err = t.chooseRows(ctx, from, s, p, own, limit)
	}
	if err == nil && t.isParent() {
		p, err = t.link.readParent(ctx, from, p, own)
	}
	return p, stay, err
}

// countRows counts the rows that stay: all rows that are not left out, or the rows that bounding has kept in the pass
// before, for each of the tally's allowances.
func (t *tally) countRows(ctx context.Context, from source.Data, before *pass, stay []*bounding.KeptRows,
	limit int64) error {
	p := t.wholePass(false)
	p.before = before
	var counted *tableCounter
	var workers []*tableWorker
	var left atomic.Int64 // number of rows that are left out
	p.begin = func(rows int64) (err error) {
		if counted, err = t.newTableCounter(rows, limit, t.workers); err != nil {
			return err
		}
		for range t.workers {
			workers = append(workers, counted.newWorker())
		}
		return nil
	}
	p.handle = func(worker, piece int, first int64, c *chunk, out []uint64) error {
		left.Add(countBits(c.withoutOutside(out)))
		if t.table.Unit.Row { // in other tables units are drawn before their rows are bounded
			out = t.withoutUndrawn(worker, c, piece, first, out)
		}
		return workers[worker].addRows(c.codes[:len(t.encoders)], c.rows, func(allowance int) []uint64 {
			return c.retainedRows(stay[allowance], piece, first, out)
		})
	}
	if err := p.run(ctx, from); err != nil {
		return err
	}
	if t.table.Unit.Row {
		t.answerRowDiagnostics(left.Load())
	}
	return parallel.Guarded(func(int) error { return counted.finishQueries(ctx) }, 0)
}

// wholePass returns a pass that reads all columns.
func (t *tally) wholePass(ids bool) *pass {
	p := &pass{tally: t, full: true, ids: ids, decides: ids || t.table.Unit.Row}
	for i := range t.readers {
		p.readers = append(p.readers, i)
	}
	return p
}

// leavingReaders returns the readers of the columns that can have a row left out.
func (t *tally) leavingReaders() (readers []int) {
	for i, e := range t.encoders {
		if e.LeavesOut() || slices.ContainsFunc(t.rules,
			func(r rule) bool { return r.drop && slices.Contains(r.columns, i) }) {
			readers = append(readers, i)
		}
	}
	return readers
}

// boundUnits reads the ids and decides which rows stay. If some units have more rows than they may, it reads the rows
// of these once more, to choose among them by what is counted of them. That reading is not announced: whether there is
// one depends on the data.
func (t *tally) boundUnits(ctx context.Context, from source.Data, s *noise.RowStreams,
	limit int64) (p *pass, k *bounding.KeptRows, err error) {
	p = &pass{tally: t, ids: true, decides: true, readers: t.leavingReaders()}
	for _, w := range t.expect.watches {
		indexOrAppend(&p.readers, w.reader)
	}
	k, err = t.runBounding(ctx, from, p, func(o bounding.Options) *bounding.Bounding {
		return bounding.Screen(t.table.Unit.MaxRows, s.Bounding(t.table.Name), o)
	}, limit, func(w *bounding.Worker, worker, piece int, first int64, c *chunk, out []uint64) error {
		if err := t.countSizes(piece, c, out); err != nil {
			return err
		}
		return w.Add(piece, first, c.ids, bounding.Rows{}, t.withoutUndrawn(worker, c, piece, first, out))
	})
	if err != nil || !k.SomeLeft() {
		return p, k, err
	}
	p = &pass{tally: t, ids: true, before: p, unannounced: true, readers: t.contentReaders()}
	hashers := t.contentHashers(s)
	chosen, err := t.runBounding(ctx, from, p, func(o bounding.Options) *bounding.Bounding {
		return bounding.Choose(t.table.Unit.MaxRows, s.Bounding(t.table.Name), o)
	}, limit-k.Bytes(), func(w *bounding.Worker, worker, piece int, first int64, c *chunk, out []uint64) error {
		settled := c.retainedRows(k, piece, first, nil)
		for i, word := range t.withoutUndrawn(worker, c, piece, first, out) {
			settled[i] |= word
		}
		return w.Add(piece, first, c.ids, bounding.Rows{Contents: hashers[worker].hashRows(c, settled)}, settled)
	})
	if err == nil {
		k.Merge(chosen)
	}
	return p, k, err
}

// contentReaders returns the readers that a choice among the rows of a unit needs: of the table's predicate, of what is
// counted, and of the columns that can have a row left out.
func (t *tally) contentReaders() []int {
	readers := t.leavingReaders()
	if t.where >= 0 {
		indexOrAppend(&readers, t.where)
	}
	for _, column := range t.contentColumns() {
		indexOrAppend(&readers, column)
	}
	return readers
}

// runBounding has a pass add the rows of each of its chunks to a bounding, and returns what the bounding decides.
func (t *tally) runBounding(ctx context.Context, from source.Data, p *pass,
	bound func(bounding.Options) *bounding.Bounding, limit int64,
	add func(w *bounding.Worker, worker, piece int, first int64, c *chunk, out []uint64) error,
) (k *bounding.KeptRows, err error) {
	var b *bounding.Bounding
	defer func() {
		if b != nil {
			if closing := b.Close(); err == nil {
				err = closing
			}
		}
	}()
	var workers []*bounding.Worker
	p.begin = func(rows int64) error {
		b = bound(bounding.Options{Memory: limit, Workers: t.workers, Rows: rows})
		for range t.workers {
			workers = append(workers, b.Worker())
		}
		return nil
	}
	p.handle = func(worker, piece int, first int64, c *chunk, out []uint64) error {
		return add(workers[worker], worker, piece, first, c, out)
	}
	if err = p.run(ctx, from); err == nil {
		err = parallel.Guarded(func(int) (err error) {
			k, err = b.Finish(ctx)
			return err
		}, 0)
	}
	return k, err
}
