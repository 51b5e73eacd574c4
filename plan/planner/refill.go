package planner

import (
	"reflect"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/describe"
	"github.com/dprelease/dprelease/spec"
)

// This file holds how a plan becomes that of other values of its parameters, without planning again.

// Refilled is the plan that [New] makes of r, made of this one by other values of its parameters, without planning again.
// It is nil where r differs in more than these ([TemplateKey]), and of a nil plan.
//
// The plan must be one that [Verify] has passed in this version of the program, in this process or an earlier one, which the
// caller must know from more than the plan's own bytes: what Refilled returns passes Verify unplanned.
func Refilled(p *plan.Plan, r *spec.Release) *plan.Plan {
	if p == nil {
		return nil
	}
	own, err := spec.Parse(r.Source)
	if err != nil || !reflect.DeepEqual(own, r) || plan.TemplateKey(own) != plan.TemplateKey(p.Release()) || len(p.Warnings) < len(p.Release().Warnings) {
		return nil
	}
	q := p.With(own)
	q.Invariants = compiled.Invariants(q) // which say from which file they are
	q.Guarantee.Invariants = describe.Invariants(q.Invariants)
	q.Warnings = append(describe.WarningsOf(own), p.Warnings[len(p.Release().Warnings):]...)
	madeHere.add(q.Hash())
	return q
}
