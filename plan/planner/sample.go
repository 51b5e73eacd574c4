package planner

import (
	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/spec"
)

// This file turns a plan for the sample into the plan of the release.

// chargeAllUnits turns a plan for the sample into the plan of the release: an account in ε is charged what all units
// lose, an account in ρ what the drawn units lose.
func chargeAllUnits(p *plan.Plan, r *spec.Release) {
	*p = *p.WithRelease(r)
	if !p.Sample.Partial() {
		return
	}
	if p.Sample.Spent = p.Cost; p.Cost.Epsilon != nil {
		p.Cost.Epsilon = r.Budget.Epsilon
	}
}

// hasSampleError reports whether noise is only a part of the error of a table.
func hasSampleError(t plan.Table) bool { return t.Sampled() }

// onAllUnits returns the ε that all units lose, at the δ of a release, if the drawn units have this loss. If all
// units are measured, that is own, the ε of the loss itself.
func onAllUnits(r *spec.Release, loss budget.Loss, own budget.Bound) (budget.Bound, error) {
	sample := r.Sample()
	if !sample.Partial() {
		return own, nil
	}
	all, err := loss.Sampled(sample.Rate())
	if err != nil {
		return own, err
	}
	return all.EpsilonAt(r.Budget.Delta)
}
