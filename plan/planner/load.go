package planner

import (
	"context"

	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/describe"
	"github.com/dprelease/dprelease/plan/template"
	"github.com/dprelease/dprelease/spec"
)

// This file holds the way from a spec on the disk to its plan.

// Load reads a spec as [spec.Load] does and plans it as [New] does. Nobody but the planner holds the release until it
// is planned.
//
// earlier, where not nil, returns the plan of an earlier run that has the [template.Key] that it is given, nil for
// none. Where that differs from this one in the values of parameters alone, the plan is made of its bytes without
// planning again, and refilled is true. They must be those of a plan that [Read] or [Verify] has passed in this version
// of the program, in this process or an earlier one, which the caller must know from more than the bytes: the plan that
// is made of them passes both unplanned.
func Load(ctx context.Context, path string, o spec.Options, earlier func(template string) *compiled.Compiled) (
	c *compiled.Compiled, refilled bool, err error) {
	r, err := spec.Load(ctx, path, o)
	if err != nil {
		return nil, false, err
	}
	if earlier != nil {
		if p := earlier(template.Key(r)); p != nil {
			if c := refill(p, r); c != nil {
				return c, true, nil
			}
		}
	}
	c, err = owned(r)
	return c, false, err
}

// refill makes the plan of a release that nobody else holds of an earlier plan; nil where the two differ in more than
// the values of parameters.
func refill(earlier *compiled.Compiled, r *spec.Release) *compiled.Compiled {
	p, err := earlier.Again()
	if err != nil || template.Key(r) != template.Key(p.Release()) ||
		len(p.Warnings) < len(p.Release().Warnings) {
		return nil
	}
	q := p.With(r)
	q.Invariants = compiled.Invariants(q) // which say from which file they are
	q.Guarantee.Invariants = describe.Invariants(q.Invariants)
	q.Warnings = append(describe.WarningsOf(r), p.Warnings[len(p.Release().Warnings):]...)
	c := compiled.Of(q)
	madeHere.add(c)
	return c
}
