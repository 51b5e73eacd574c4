package scan

// This file holds the rows of linked tables: what each has from other rows of its unit.

import (
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/dprelease/dprelease/histogram/internal/bounding"
	"github.com/dprelease/dprelease/internal/memory"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/internal/tabulate"
)

// family are the tallies whose rows are linked to a tally's, itself among them.
func (t *tally) family() []*tally {
	if t.link == nil {
		return []*tally{t}
	}
	return append([]*tally{t.link.parent}, t.link.children...)
}

// child is the place of a tally among those of the children of its link, −1 where it is none.
func (t *tally) child() int {
	if t.link == nil {
		return -1
	}
	return slices.Index(t.link.children, t)
}

// isParent tells that rows of other tables find theirs here.
func (t *tally) isParent() bool { return t.link != nil && t.link.parent == t }

// relate finds the units of a chunk's rows where the link is filled, and gives those of the readers that are linked
// columns their codes.
func (t *tally) relate(c *chunk, readers []int) {
	c.slots = c.slots[:0]
	if t.link == nil || !t.link.filled || c.ids == nil {
		return
	}
	t.link.find(c)
	for _, r := range readers {
		of := t.readers[r].Column.Link
		if of == nil {
			continue
		}
		c.wide[r] = slices.Grow(c.wide[r][:0], c.rows)[:c.rows]
		child := t.child()
		if child < 0 { // the parent's own column: how many rows of that table
			child = slices.IndexFunc(t.link.children, func(x *tally) bool { return x.table.Name == of.Table })
		}
		if at := t.link.columnOf(of.Column); at < 0 {
			t.link.sizes(child, c.slots, c.wide[r])
		} else {
			t.link.codes(t.link.columns[at], c.slots, c.wide[r])
		}
		c.codes[r], c.largest[r] = tabulate.Codes{Wide: c.wide[r]}, uint32(t.readers[r].Size-1)
	}
}

// columnOf is the place of a column of the parent among those of the link; −1 for a number of rows.
func (l *link) columnOf(name string) int {
	return slices.IndexFunc(l.columns,
		func(c linkedColumn) bool { return l.parent.encoders[c.column].Column.Name == name })
}

// orphans sets the bits of a child's rows whose unit has no row in the parent that is counted, and tells whether there
// are any.
func (t *tally) orphans(c *chunk, left []uint64) (some bool) {
	if t.child() < 0 {
		return false
	}
	for i, s := range c.slots {
		if s == 0 {
			left[i/64] |= 1 << (i % 64)
			some = true
		}
	}
	return some
}

// idsOfParent says of ids that they cannot be those of a parent's rows.
const idsOfParent = "have another type here than in the table whose rows these belong to (in a CSV file they are text); write them the same way in both"

// countSizes adds a child's rows that are not left out to the sizes of their units.
func (t *tally) countSizes(piece int, c *chunk, out []uint64) error {
	child := t.child()
	if child < 0 {
		return nil
	}
	if kind := bounding.KindOf(c.ids); c.rows > 0 && kind != arrow.NULL && t.link.kind() != arrow.NULL &&
		kind != t.link.kind() {
		return &bounding.IDError{Piece: piece, Message: idsOfParent}
	}
	t.link.count(child, c.slots, out, uint32(t.table.Unit.MaxRows))
	return nil
}

// makeUp draws rows of the parent uniformly, once: their columns that children have, and how many rows of each child
// they have.
func (l *link) makeUp(rows int64, stream *noise.Bits, limit int64) error {
	if l.made != nil {
		return nil
	}
	if need := 4 * rows * int64(len(l.columns)+len(l.children)); need > limit {
		return &memory.Error{Need: need, Have: limit}
	}
	draw := func(size int) []uint32 {
		codes := make([]uint32, rows)
		for i := range codes {
			codes[i] = uint32(stream.Below(uint64(size)))
		}
		return codes
	}
	l.made = [][]uint32{}
	for _, c := range l.columns {
		l.made = append(l.made, draw(l.parent.encoders[c.column].Size))
	}
	for _, child := range l.children {
		l.madeSizes = append(l.madeSizes, draw(int(child.table.Unit.MaxRows)+1))
	}
	return nil
}

// madeUpRows is how many rows a tally has where so many of the parent are made up, and the place of the parent row of
// each, in turn: of the parent itself, of each row its own.
func (t *tally) madeUpRows(rows int64) (n int64, next func() uint32) {
	sizes := slices.Repeat([]uint32{1}, int(rows))
	if child := t.child(); child >= 0 {
		sizes = t.link.madeSizes[child]
	}
	for _, size := range sizes {
		n += int64(size)
	}
	row, left := -1, uint32(0)
	return n, func() uint32 {
		for ; left == 0; left = sizes[row] {
			row++
		}
		left--
		return uint32(row)
	}
}

// madeUp are the codes of a column by rows of the parent, where these have been made up; nil for another column.
func (t *tally) madeUp(column int) []uint32 {
	if t.link == nil {
		return nil
	}
	of := t.encoders[column].Column.Link
	switch {
	case of == nil && t.isParent():
		if at := slices.IndexFunc(t.link.columns, func(c linkedColumn) bool { return c.column == column }); at >= 0 {
			return t.link.made[at]
		}
		return nil
	case of == nil:
		return nil
	case t.isParent():
		return t.link.madeSizes[slices.IndexFunc(t.link.children, func(x *tally) bool { return x.table.Name == of.Table })]
	}
	if at := t.link.columnOf(of.Column); at >= 0 {
		return t.link.made[at]
	}
	return t.link.madeSizes[t.child()]
}
