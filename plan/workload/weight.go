package workload

import (
	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/spec"
)

// This file holds the weights of rows.

// largestWeight returns the largest weight of a row in a question, in steps, and the step: 1 and 1 if each row counts
// as 1.
func largestWeight(t *spec.Table, what counted.Counted) (steps, step float64) {
	if !what.Weighted() {
		return 1, 1
	}
	step, _ = t.Weight.Lattice.Step.Float64()
	return float64(t.Weight.Lattice.Last), step
}
