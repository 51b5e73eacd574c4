package synth

import (
	"fmt"
	"slices"

	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/fitting"
	"github.com/dprelease/dprelease/plan/impossible"
	"github.com/dprelease/dprelease/spec"
)

// This file holds impossible cells: those that the spec says no row falls into, published as exact zeros.

// impossibleOf reports which integers of a measurement are of impossible cells; nil if none is, and for a sparse
// measurement. It returns an error if one of them is not the 0 that the spec requires: no such measurement is made.
func impossibleOf(r *spec.Release, m measured.Measured) ([]bool, error) {
	if m.Measurement.Impossible == 0 {
		return nil, nil
	}
	mask, err := impossible.Of(m.Measurement.Query, r)
	if err != nil {
		return nil, fmt.Errorf("measurement %s: %w", m.Measurement.ID, err)
	}
	if listsCells[m.Measurement.Selection.Kind()] {
		if slices.ContainsFunc(m.Cells, mask.IsImpossible) {
			return nil, fmt.Errorf("measurement %s has a row where the spec says that none can be", m.Measurement.ID)
		}
		return nil, nil
	}
	cells := mask.Cells()
	if len(cells) != m.Values.Len() {
		return nil, fmt.Errorf("measurement %s is not whole", m.Measurement.ID)
	}
	for i, impossible := range cells {
		if impossible && m.Values.Value(i) != 0 {
			return nil, fmt.Errorf("measurement %s has a row where the spec says that none can be", m.Measurement.ID)
		}
	}
	return cells, nil
}

// impossibleCells reports which cells of a measurement of the plan are impossible; nil if none is.
func (r *Reader) impossibleCells(m plan.Measurement) []bool {
	if m.Impossible == 0 {
		return nil
	}
	mask, err := impossible.Of(m.Query, r.plan.Release())
	if err != nil {
		return nil // the plan was not made from its release
	}
	return mask.Cells()
}

// hasImpossible reports whether some cells of a step are exact zeros.
func hasImpossible(s fitting.Step) bool { return s.Impossible }
