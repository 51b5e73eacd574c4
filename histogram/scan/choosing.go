package scan

// This file holds the choice of the rows that stay for each allowance, in one more reading.

import (
	"context"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/dprelease/dprelease/histogram/internal/bounding"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/internal/parallel"
	"github.com/dprelease/dprelease/internal/tabulate"
)

// passes is how often the files are read.
func (t *tally) passes() int64 {
	if t.table.Unit.Row {
		return 1
	}
	n := int64(2)
	if len(t.allowances) > 1 {
		n++
	}
	if t.isParent() {
		n++
	}
	return n
}

// allowancesMemory is the most that the boundings of all allowances hold: what is more goes to disk.
const allowancesMemory = 4 * bounding.MostMemory

// choose reads the ids once more, with what tells the groups of rows, and says which of the rows that the table's own
// bound has kept (or of others, for diagnostics) stay for each allowance. own is what the pass before has kept; it is
// the first of what is returned.
//
// Guarantee: for each allowance, which rows of a unit stay is a function of key, definition, id and the unit's own rows
// in reading order, and of nothing else; they are at most caps.rows, in at most caps.groups groups, with at most
// caps.perGroup in each. Neighbours: both relations. Argument: docs/proofs/bounding.md.
func (t *tally) choose(ctx context.Context, dir string, s *noise.RowStreams, before *pass, own *bounding.Kept,
	limit int64) (p *pass, stay []*bounding.Kept, err error) {
	p = &pass{tally: t, ids: true, before: before, readers: t.grouping()}
	bounds := make([]*bounding.Bounding, len(t.allowances)) // but of the first
	defer func() {
		for _, b := range bounds {
			if b != nil {
				if closing := b.Close(); err == nil {
					err = closing
				}
			}
		}
	}()
	var workers []*allowanceWorker
	p.begin = func(rows int64) (err error) {
		o := bounding.Options{Memory: min(limit, allowancesMemory) / int64(len(bounds)-1), Workers: t.workers, Rows: rows}
		for i, a := range t.allowances[1:] {
			if bounds[i+1], err = bounding.New(a.caps, s.Bounding(t.table.Name+"\x00"+a.definition), o); err != nil {
				return err
			}
		}
		for range t.workers {
			workers = append(workers, newAllowanceWorker(t, bounds))
		}
		return nil
	}
	p.take = func(worker, piece int, first int64, c *chunk, out []uint64) error {
		return workers[worker].add(piece, first, c, c.stay(own, piece, first, nil), out)
	}
	if err = p.run(ctx, dir); err != nil {
		return p, nil, err
	}
	stay = []*bounding.Kept{own}
	err = parallel.Guarded(func(int) error {
		for _, b := range bounds[1:] {
			k, err := b.Finish(ctx)
			if err != nil {
				return err
			}
			stay = append(stay, k)
		}
		return nil
	}, 0)
	return p, stay, err
}

// grouping are the readers of the columns that tell groups and, where it matters, of those that can have rows left out.
func (t *tally) grouping() []int {
	var readers []int
	if t.where >= 0 { // a row that is outside needs no id
		readers = append(readers, t.where)
	}
	for _, a := range t.allowances {
		if a.hears != keptRows {
			for _, r := range t.leaving() {
				place(&readers, r)
			}
		}
		for _, g := range a.groups {
			column := t.attributes[g].column
			place(&readers, column)
			for _, c := range t.clamps {
				if c.column == column {
					place(&readers, c.by)
				}
			}
		}
	}
	return readers
}

// allowanceWorker is what one goroutine adds rows by to the boundings of all allowances.
type allowanceWorker struct {
	tally   *tally
	bounds  []*bounding.Worker // of each allowance but the first
	clamped clamped
	groups  []uint64
	unheard []uint64
}

func newAllowanceWorker(t *tally, bounds []*bounding.Bounding) *allowanceWorker {
	w := &allowanceWorker{tally: t, clamped: clamped{clamps: t.clamps}}
	for _, b := range bounds[1:] {
		w.bounds = append(w.bounds, b.Worker())
	}
	return w
}

// Add takes the rows of a chunk, of which some are kept by the bound of the table and some are left out (nil: none).
func (w *allowanceWorker) add(piece int, first int64, c *chunk, kept, out []uint64) error {
	columns := w.clamped.of(c.codes, c.rows)
	for i, a := range w.tally.allowances[1:] {
		var groups []uint64
		if a.caps.Grouped() {
			w.groups = slices.Grow(w.groups[:0], c.rows)[:c.rows]
			clear(w.groups)
			groups = w.groups
			for _, g := range a.groups {
				parted(w.tally.axis(w.tally.attributes[g]), columns, groups)
			}
		}
		unheard := out
		if a.hears != countedRows {
			unheard = cleared(&w.unheard, c.rows)
			for i := range unheard {
				switch {
				case a.hears == keptRows:
					unheard[i] = ^kept[i]
				case out != nil && c.outside != nil:
					unheard[i] = ^out[i] | c.outside[i]
				case out != nil:
					unheard[i] = ^out[i]
				default:
					unheard[i] = ^uint64(0)
				}
			}
			noUnits(c.ids, unheard)
		}
		if err := w.bounds[i].Add(piece, first, c.ids, groups, unheard); err != nil {
			return err
		}
	}
	return nil
}

// noUnits sets the bits of rows that are of no unit: they are left out, and bounded by nobody's bound.
func noUnits(ids arrow.Array, unheard []uint64) {
	for i := 0; ids.NullN() > 0 && i < ids.Len(); i++ {
		if ids.IsNull(i) {
			unheard[i/64] |= 1 << (i % 64)
		}
	}
}

// parted parts groups by the codes of one more axis.
func parted(a tabulate.Axis, columns []tabulate.Codes, groups []uint64) {
	switch c := columns[a.Column]; {
	case c.Narrow != nil:
		partBy(c.Narrow, a, groups)
	case c.Middle != nil:
		partBy(c.Middle, a, groups)
	default:
		partBy(c.Wide, a, groups)
	}
}

// partBy is parted for codes of one width. Rows that are left out may have any.
func partBy[T uint8 | uint16 | uint32](codes []T, a tabulate.Axis, groups []uint64) {
	codes = codes[:len(groups)]
	for i, c := range codes {
		code := uint64(c)
		if a.Of != nil {
			if code >= uint64(len(a.Of)) {
				continue
			}
			code = uint64(a.Of[code])
		}
		groups[i] = groups[i]*uint64(a.Size) + code
	}
}
