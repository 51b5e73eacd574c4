package synth

import (
	"fmt"

	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/spec"
)

// This file holds impossible cells: those that the spec says no row falls into, published as exact zeros.

// impossibleOf says which integers of a measurement are of impossible cells; nil where none is. It fails where one of
// them is not the 0 that it is by the spec: no such measurement is made.
func impossibleOf(r *spec.Release, m measured.Measured) ([]bool, error) {
	if m.Measurement.Impossible == 0 {
		return nil, nil
	}
	mask, err := m.Measurement.Query.Impossible(r)
	if err != nil {
		return nil, fmt.Errorf("measurement %s: %w", m.Measurement.ID, err)
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

// possible is how many possible cells of a measurement are added up in each row of an answer.
func (r *Reader) possible(m plan.Measurement, groupings []Grouping) []int64 {
	at, rows := rowsOfCells(groupings)
	out := make([]int64, rows)
	for i, impossible := range r.impossible(m) {
		if at[i] >= 0 && !impossible {
			out[at[i]]++
		}
	}
	return out
}

// impossible says which cells of a measurement of the plan are; nil where none is.
func (r *Reader) impossible(m plan.Measurement) []bool {
	if m.Impossible == 0 {
		return nil
	}
	mask, err := m.Query.Impossible(r.plan.Release())
	if err != nil {
		return nil // of a plan that was not made from its release
	}
	return mask.Cells()
}

// withoutImpossible are weights of the integers of a measurement without those of impossible cells, on which nothing
// rests; together, as how many have a weight.
func withoutImpossible(weights []float64, impossible []bool, together bool) ([]float64, []int64) {
	var some int64
	integers := make([]int64, len(weights))
	for i, out := range impossible {
		integers[i] = 1
		if out {
			weights[i] = 0
		}
		if weights[i] != 0 {
			some++
		}
	}
	if together {
		return []float64{1}, []int64{some}
	}
	return weights, integers
}
