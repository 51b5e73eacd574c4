package scan

// This file holds the predicate of a table, which decides which of its rows count at all.

import "github.com/dprelease/dprelease/histogram/internal/encoding"

// markOutside returns the rows of a chunk for which the table's predicate is not true, a bit per row. It returns nil
// if there are none, or if there is no predicate or it was not read. The result is valid until the next call. These
// rows are left out before anything else is required of them: their other values cannot break the contract.
//
// Guarantee: whether a row is outside depends on its own values and on what is public. Neighbours: both relations.
// Argument: docs/proofs/bounding.md.
func (t *tally) markOutside(c *chunk) []uint64 {
	c.outside = nil
	if t.where < 0 || c.codes[t.where].Len() == 0 || c.largest[t.where] < t.readers[t.where].Marks {
		return nil
	}
	bits := clearedBits(&c.out, c.rows)
	if some, _ := markLeftOut(c.codes[t.where], t.readers[t.where].Marks, c.rows, bits); some {
		c.outside = bits
	}
	return c.outside
}

// outsideOf returns, by row of raw codes, whether the row is outside.
func outsideOf(codes []uint32) []bool {
	out := make([]bool, len(codes))
	for i, c := range codes {
		out[i] = c == encoding.Dropped
	}
	return out
}

// addPredicate adds the predicate of the table to the columns that are read.
func (t *tally) addPredicate() {
	t.where = -1
	if t.table.Where != nil {
		t.where = len(t.columns)
		t.columns = append(t.columns, wantedColumn{column: t.table.Where.Column()})
	}
}
