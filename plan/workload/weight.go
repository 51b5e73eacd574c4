package workload

import (
	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/spec"
)

// This file holds the weights that rows count by.

// largestWeight is the largest weight of a row as a question counts it, in steps, and what a step is: 1 and 1 where
// each row counts as 1.
func largestWeight(t *spec.Table, what counted.Counted) (steps, step float64) {
	if !what.Weighted() {
		return 1, 1
	}
	step, _ = t.Weight.Lattice.Step.Float64()
	return float64(t.Weight.Lattice.Last), step
}

// DropsUnweighted tells that rows without a weight are left out.
func DropsUnweighted(t *spec.Table) bool { return t.Weight != nil && t.Weight.Null == spec.Drop }
