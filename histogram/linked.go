package histogram

// This file holds the rows of linked tables: what each has from other rows of its unit.

import (
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
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

// relate finds the units of a chunk's rows where the link is filled, and gives those of the readers that are linked columns
// their codes.
func (t *tally) relate(c *chunk, readers []int) {
	c.slots = c.slots[:0]
	if t.link == nil || !t.link.filled || c.ids == nil {
		return
	}
	t.link.find(c)
	for _, r := range readers {
		of := t.readers[r].column.Link
		if of == nil {
			continue
		}
		c.wide[r] = fit(c.wide[r], c.rows)
		child := t.child()
		if child < 0 { // the parent's own column: how many rows of that table
			child = slices.IndexFunc(t.link.children, func(x *tally) bool { return x.table.Name == of.Table })
		}
		if at := t.link.columnOf(of.Column); at < 0 {
			t.link.sizes(child, c.slots, c.wide[r])
		} else {
			t.link.codes(t.link.columns[at], c.slots, c.wide[r])
		}
		c.codes[r], c.largest[r] = tabulate.Codes{Wide: c.wide[r]}, uint32(t.readers[r].size-1)
	}
}

// columnOf is the place of a column of the parent among those of the link; −1 for a number of rows.
func (l *link) columnOf(name string) int {
	return slices.IndexFunc(l.columns, func(c linkedColumn) bool { return l.parent.encoders[c.column].column.Name == name })
}

// orphans sets the bits of a child's rows whose unit has no row in the parent that is counted, and tells whether there are
// any.
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

// countSizes adds a child's rows that are not left out to the sizes of their units.
func (t *tally) countSizes(piece int, c *chunk, out []uint64) error {
	child := t.child()
	if child < 0 {
		return nil
	}
	if kind := idKind(c.ids); c.rows > 0 && kind != arrow.NULL && t.link.kind() != arrow.NULL && kind != t.link.kind() {
		return &idError{piece, idsOfParent}
	}
	t.link.count(child, c.slots, out, uint32(t.table.Unit.MaxRows))
	return nil
}
