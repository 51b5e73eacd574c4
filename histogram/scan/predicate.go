package scan

// This file holds the predicate of a table: which of its rows count at all.

import "github.com/dprelease/dprelease/histogram/internal/encoding"

// outside are the rows of a chunk for which the table's predicate is not true, a bit per row: nil where there is none,
// or no predicate, or it was not read. It is valid until the next call. These rows are left out before anything else is
// asked of them: what else they hold breaks no contract.
//
// Guarantee: whether a row is outside depends on its own values and on what is public. Neighbours: both relations.
// Argument: docs/proofs/bounding.md.
func (t *tally) outside(c *chunk) []uint64 {
	c.outside = nil
	if t.where < 0 || c.codes[t.where].Len() == 0 || c.largest[t.where] < t.readers[t.where].Marks {
		return nil
	}
	bits := cleared(&c.out, c.rows)
	if some, _ := marks(c.codes[t.where], t.readers[t.where].Marks, c.rows, bits); some {
		c.outside = bits
	}
	return c.outside
}

// outsideOf are the rows of raw codes that are outside, nil for none.
func outsideOf(codes []uint32) []bool {
	out := make([]bool, len(codes))
	for i, c := range codes {
		out[i] = c == encoding.Dropped
	}
	return out
}

// predicate adds the predicate of the table to the columns that are read.
func (t *tally) predicate() {
	t.where = -1
	if t.table.Where != nil {
		t.where = len(t.columns)
		t.columns = append(t.columns, wanted{column: t.table.Where.Column()})
	}
}
