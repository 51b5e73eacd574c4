package scan

// This file holds the choice of the rows that stay for each allowance, which takes one more reading.

import (
	"context"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/dprelease/dprelease/histogram/internal/bounding"
	"github.com/dprelease/dprelease/histogram/source"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/internal/parallel"
	"github.com/dprelease/dprelease/internal/tabulate"
)

// passCount returns how many times the files are read.
func (t *tally) passCount() int64 {
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

// allowancesMemory is the most memory that the boundings of all allowances hold; the rest goes to disk.
const allowancesMemory = 4 * bounding.MostMemory

// chooseRows reads the ids once more, with all that is counted. It decides which of the rows that the table's own bound
// has kept (or of other rows, for diagnostics) stay for each allowance. own is what the pass before has kept; it is the
// first entry of retained.
//
// Guarantee: for each allowance, which contents of a unit stay is a function of key, definition, id and the contents of
// the unit's own rows, and of nothing else; they are at most caps.rows, in at most caps.groups groups, with at most
// caps.perGroup in each. Neighbours: both relations. Argument: docs/proofs/bounding.md.
func (t *tally) chooseRows(ctx context.Context, from source.Data, s *noise.RowStreams, before *pass,
	own *bounding.KeptRows, limit int64) (p *pass, stay []*bounding.KeptRows, err error) {
	p = &pass{tally: t, ids: true, before: before, readers: t.groupReaders()}
	bounds := make([]*bounding.Bounding, len(t.allowances)) // by allowance, nil for the first
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
		o := bounding.Options{Memory: min(limit, allowancesMemory) / int64(len(bounds)-1), Workers: t.workers,
			Rows: rows}
		for i, a := range t.allowances[1:] {
			bounds[i+1] = bounding.ChooseAgain(a.caps, t.groupText(a), s.Bounding(t.table.Name+"\x00"+a.definition), o)
		}
		for _, h := range t.contentHashers(s) {
			workers = append(workers, newAllowanceWorker(t, bounds, h))
		}
		return nil
	}
	p.handle = func(worker, piece int, first int64, c *chunk, out []uint64) error {
		return workers[worker].addChunk(piece, first, c, c.retainedRows(own, piece, first, nil), out)
	}
	if err = p.run(ctx, from); err != nil {
		return p, nil, err
	}
	stay = []*bounding.KeptRows{own}
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

// groupReaders returns the readers that [tally.chooseRows] needs: those of the contents, and of the columns that define
// groups of rows, with the columns whose strata clamp them.
func (t *tally) groupReaders() []int {
	readers := t.contentReaders()
	for _, a := range t.allowances {
		for _, g := range a.groups {
			column := t.attributes[g].column
			indexOrAppend(&readers, column)
			for _, c := range t.clamps {
				if c.column == column {
					indexOrAppend(&readers, c.by)
				}
			}
		}
	}
	return readers
}

// allowanceWorker adds the rows of one goroutine to the boundings of all allowances.
type allowanceWorker struct {
	tally      *tally
	hasher     *contentHasher
	bounds     []*bounding.Worker // by allowance, without the first
	clamped    clampedCodes
	groups     []uint64
	ineligible []uint64
}

func newAllowanceWorker(t *tally, bounds []*bounding.Bounding, h *contentHasher) *allowanceWorker {
	w := &allowanceWorker{tally: t, hasher: h, clamped: clampedCodes{clamps: t.clamps}}
	for _, b := range bounds[1:] {
		w.bounds = append(w.bounds, b.Worker())
	}
	return w
}

// addChunk adds the rows of a chunk. kept marks the rows that the bound of the table keeps, and out the rows that are
// left out (nil: none).
func (w *allowanceWorker) addChunk(piece int, first int64, c *chunk, kept, out []uint64) error {
	columns := w.clamped.columnsOf(c.codes, c.rows)
	contents := w.hasher.hashRows(c, w.rowsWithoutChoice(kept, c.rows))
	for i, a := range w.tally.allowances[1:] {
		var groups []uint64
		if a.caps.Grouped() {
			w.groups = slices.Grow(w.groups[:0], c.rows)[:c.rows]
			clear(w.groups)
			groups = w.groups
			for _, g := range a.groups {
				refineGroups(w.tally.axisOf(w.tally.attributes[g]), columns, groups)
			}
		}
		ineligible := out
		if a.eligible != countedRows {
			ineligible = clearedBits(&w.ineligible, c.rows)
			for i := range ineligible {
				switch {
				case a.eligible == keptRows:
					ineligible[i] = ^kept[i]
				case out != nil && c.outside != nil:
					ineligible[i] = ^out[i] | c.outside[i]
				case out != nil:
					ineligible[i] = ^out[i]
				default:
					ineligible[i] = ^uint64(0)
				}
			}
			markWithoutUnit(c.ids, ineligible)
		}
		of := bounding.Rows{Contents: contents, Groups: groups}
		if err := w.bounds[i].Add(piece, first, c.ids, of, ineligible); err != nil {
			return err
		}
	}
	return nil
}

// rowsWithoutChoice returns the rows among which no allowance chooses: all but the kept ones, or none if there are
// diagnostics.
func (w *allowanceWorker) rowsWithoutChoice(kept []uint64, rows int) []uint64 {
	if slices.ContainsFunc(w.tally.allowances[1:], func(a allowance) bool { return a.eligible != keptRows }) {
		return nil
	}
	out := clearedBits(&w.ineligible, rows)
	for i := range out {
		out[i] = ^kept[i]
	}
	return out
}

// markWithoutUnit sets the bits of rows without a unit. They are left out, and no unit's bound applies to them.
func markWithoutUnit(ids arrow.Array, ineligible []uint64) {
	for i := 0; ids.NullN() > 0 && i < ids.Len(); i++ {
		if ids.IsNull(i) {
			ineligible[i/64] |= 1 << (i % 64)
		}
	}
}

// refineGroups splits groups by the codes of one more axis.
func refineGroups(a tabulate.Axis, columns []tabulate.Codes, groups []uint64) {
	switch c := columns[a.Column]; {
	case c.U8 != nil:
		refineGroupsBy(c.U8, a, groups)
	case c.U16 != nil:
		refineGroupsBy(c.U16, a, groups)
	default:
		refineGroupsBy(c.U32, a, groups)
	}
}

// refineGroupsBy is refineGroups for codes of one width. Rows that are left out may have any code.
func refineGroupsBy[T uint8 | uint16 | uint32](codes []T, a tabulate.Axis, groups []uint64) {
	codes = codes[:len(groups)]
	for i, c := range codes {
		code := uint64(c)
		if a.CodeOf != nil {
			if code >= uint64(len(a.CodeOf)) {
				continue
			}
			code = uint64(a.CodeOf[code])
		}
		groups[i] = groups[i]*uint64(a.Size) + code
	}
}
