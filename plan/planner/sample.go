package planner

import (
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/describe"
	"github.com/dprelease/dprelease/spec"
)

// This file holds how a plan for the sample becomes that of the release.

// onAll makes of a plan for the sample that of the release: an account in ε is charged what all units lose, one in ρ
// what those lose that are drawn.
func onAll(p *plan.Plan, r *spec.Release) {
	*p = *p.With(r)
	if !p.Sample.Partial() {
		return
	}
	if p.Sample.Spent = p.Cost; p.Cost.Epsilon != nil {
		p.Cost.Epsilon = r.Budget.Epsilon
	}
}

// sampleError says what a sample adds to the errors of a table, "" where all units are measured.
func sampleError(p *plan.Plan, t plan.Table) string {
	if !p.Sample.Partial() {
		return ""
	}
	return describe.SampleError(p.Sample, compiled.RowsOfUnit(p, t, false))
}
