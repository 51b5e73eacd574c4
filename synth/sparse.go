package synth

import (
	"fmt"
	"slices"

	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/impossible"
)

// This file holds single cells of sparse tables: their figures, or that they have none.

// Sparse returns the measurement of a sparse table, and false for any other table.
func (r *Reader) Sparse(table int) (plan.Measurement, bool) {
	if r.plan.Tables[table].Sparse == nil {
		return plan.Measurement{}, false
	}
	return r.Needed(table)[0], true
}

// Cell returns the index of a cell among the answers to a sparse measurement, given the category of each key; above is
// false if the cell is not above the threshold. ruledOut reports whether it cannot have rows.
func (r *Reader) Cell(answer measured.Measured, categories []int) (at int, above, ruledOut bool, err error) {
	levels, err := answer.Measurement.Query.Levels(r.plan.Release())
	if err != nil {
		return 0, false, false, err
	}
	cell := uint64(0)
	for i, c := range categories {
		cell = cell*uint64(levels[i].Size()) + uint64(c)
	}
	mask, err := impossible.Of(answer.Measurement.Query, r.plan.Release())
	if err != nil {
		return 0, false, false, err
	}
	if len(answer.Cells) != answer.Values.Len() {
		return 0, false, false, fmt.Errorf("measurement %s is not whole", answer.Measurement.ID)
	}
	at, above = slices.BinarySearch(answer.Cells, cell)
	return at, above, mask.IsImpossible(cell), nil
}
