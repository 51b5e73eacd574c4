package scan

// This file holds the rows of linked tables: what each row has from other rows of its unit.

import (
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/dprelease/dprelease/histogram/internal/bounding"
	"github.com/dprelease/dprelease/internal/memory"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/internal/tabulate"
)

// linkedTallies returns the tallies whose rows are linked to the tally's rows, including the tally itself.
func (t *tally) linkedTallies() []*tally {
	if t.link == nil {
		return []*tally{t}
	}
	return append([]*tally{t.link.parent}, t.link.children...)
}

// childIndex returns the index of a tally among the children of its link, −1 if it is not a child.
func (t *tally) childIndex() int {
	if t.link == nil {
		return -1
	}
	return slices.Index(t.link.children, t)
}

// isParent reports whether rows of other tables find their parent row in this table.
func (t *tally) isParent() bool { return t.link != nil && t.link.parent == t }

// loadLinked finds the units of a chunk's rows, if the link is filled, and sets the codes of the readers of linked
// columns.
func (t *tally) loadLinked(c *chunk, readers []int) {
	c.slots = c.slots[:0]
	if t.link == nil || !t.link.parentRead || c.ids == nil {
		return
	}
	t.link.findUnits(c)
	for _, r := range readers {
		of := t.readers[r].Column.Link
		if of == nil {
			continue
		}
		c.wide[r] = slices.Grow(c.wide[r][:0], c.rows)[:c.rows]
		child := t.childIndex()
		if child < 0 { // the parent's own column: the number of rows in that child table
			child = slices.IndexFunc(t.link.children, func(x *tally) bool { return x.table.Name == of.Table })
		}
		if at := t.link.columnOf(of.Column); at < 0 {
			t.link.childCounts(child, c.slots, c.wide[r])
		} else {
			t.link.parentCodes(t.link.columns[at], c.slots, c.wide[r])
		}
		c.codes[r], c.largest[r] = tabulate.Codes{U32: c.wide[r]}, uint32(t.readers[r].Size-1)
	}
}

// columnOf returns the index of a parent column among the columns of the link, −1 for a number of rows.
func (l *link) columnOf(name string) int {
	return slices.IndexFunc(l.columns,
		func(c linkedColumn) bool { return l.parent.encoders[c.column].Column.Name == name })
}

// markOrphans sets the bits of a child's rows whose unit has no counted row in the parent, and reports whether there
// are any.
func (t *tally) markOrphans(c *chunk, left []uint64) (some bool) {
	if t.childIndex() < 0 {
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

// idsOfParent says that ids cannot be ids of a parent's rows.
const idsOfParent = "have another type here than in the table whose rows these belong to (in a CSV file they are " +
	"text); write them the same way in both"

// countSizes adds a child's rows that are not left out to the row counts of their units.
func (t *tally) countSizes(piece int, c *chunk, out []uint64) error {
	child := t.childIndex()
	if child < 0 {
		return nil
	}
	if kind := bounding.KindOf(c.ids); c.rows > 0 && kind != arrow.NULL && t.link.idType() != arrow.NULL &&
		kind != t.link.idType() {
		return &bounding.IDError{Piece: piece, Message: idsOfParent}
	}
	t.link.countChildRows(child, c.slots, out, uint32(t.table.Unit.MaxRows))
	return nil
}

// makeUp draws rows of the parent uniformly, once: the columns that children have, and how many rows of each child
// they have.
func (l *link) makeUp(rows int64, stream *noise.Bits, limit int64) error {
	if l.drawnCodes != nil {
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
	l.drawnCodes = [][]uint32{}
	for _, c := range l.columns {
		l.drawnCodes = append(l.drawnCodes, draw(l.parent.encoders[c.column].Size))
	}
	for _, child := range l.children {
		l.drawnSizes = append(l.drawnSizes, draw(int(child.table.Unit.MaxRows)+1))
	}
	return nil
}

// drawnRows returns how many rows a tally has if the parent has the given number of made-up rows, and a function that
// returns the parent row of each of them in turn. Each row of the parent is its own parent row.
func (t *tally) drawnRows(rows int64) (n int64, next func() uint32) {
	sizes := slices.Repeat([]uint32{1}, int(rows))
	if child := t.childIndex(); child >= 0 {
		sizes = t.link.drawnSizes[child]
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

// drawnColumn returns the codes of a column by parent row, if they were drawn with the parent's rows, and nil if not.
func (t *tally) drawnColumn(column int) []uint32 {
	if t.link == nil {
		return nil
	}
	of := t.encoders[column].Column.Link
	switch {
	case of == nil && t.isParent():
		if at := slices.IndexFunc(t.link.columns, func(c linkedColumn) bool { return c.column == column }); at >= 0 {
			return t.link.drawnCodes[at]
		}
		return nil
	case of == nil:
		return nil
	case t.isParent():
		return t.link.drawnSizes[slices.IndexFunc(t.link.children,
			func(x *tally) bool { return x.table.Name == of.Table })]
	}
	if at := t.link.columnOf(of.Column); at >= 0 {
		return t.link.drawnCodes[at]
	}
	return t.link.drawnSizes[t.childIndex()]
}
