package workload

import (
	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/document"
)

// This file holds the release inside its sample: the budget that the drawn units have.

// OnSample returns the release with the budget of mechanisms that see only a sample of its units; the release itself
// if they see all.
//
// Guarantee: mechanisms within that budget, run on one secret Poisson sample of the units, are together within the
// budget of the release. Neighbours: add-remove alone, which a spec with a sample has. Theorem: Balle, Barthe &
// Gaboardi 2018, theorem 8. Argument: docs/proofs/sampling.md.
func OnSample(r *spec.Release) (*spec.Release, error) {
	sample := r.Sample()
	if !sample.Partial() {
		return r, nil
	}
	inner := *r
	var err error
	inner.Budget.Epsilon, inner.Budget.Delta, err = budget.BeforeSampling(r.Budget.Epsilon, r.Budget.Delta,
		sample.Rate())
	if err != nil {
		return nil, r.Problem("budget", document.Problem{Message: "this budget cannot be spent on a sample: " +
			err.Error(),
			Expected: "another budget, or another share of the units"})
	}
	return &inner, nil
}

// SampleOf returns the sample of a release, without the sum of its mechanisms' costs, which is known later.
func SampleOf(r *spec.Release) plan.Sample {
	if r.Sample().Partial() {
		return plan.Sample{Share: r.Sample().Rate().RatString()}
	}
	return plan.Sample{}
}
