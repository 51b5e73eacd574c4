package planner

import (
	"context"

	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/template"
	"github.com/dprelease/dprelease/spec"
)

// This file holds the way from a spec on the disk to its plan.

// Load reads a spec as [spec.Load] does and plans it as [New] does. Nobody but the planner holds the release until it
// is planned.
//
// earlier, if not nil, returns the plan of an earlier run with the given [template.Key], or nil if there is none. If
// that plan differs from this one only in the values of parameters, the plan is made from its bytes without planning
// again, and refilled is true. The bytes must be those of a plan that [Read] or [Verify] has passed in this version
// of the program, in this process or an earlier one. The caller must know that from more than the bytes, because the
// new plan passes both without being planned.
func Load(ctx context.Context, path string, o spec.Options, earlier func(template string) *compiled.Compiled) (
	c *compiled.Compiled, refilled bool, err error) {
	r, err := spec.Load(ctx, path, o)
	if err != nil {
		return nil, false, err
	}
	if earlier != nil {
		if p := earlier(template.Key(r)); p != nil {
			if c := reusePlan(p, r); c != nil {
				return c, true, nil
			}
		}
	}
	c, err = planOwned(r)
	return c, false, err
}

// reusePlan makes the plan of a release, which nobody else holds, from an earlier plan. It returns nil if the two
// differ in more than the values of parameters.
func reusePlan(earlier *compiled.Compiled, r *spec.Release) *compiled.Compiled {
	p, err := earlier.Copy()
	if err != nil || template.Key(r) != template.Key(p.Release()) {
		return nil
	}
	q := p.WithRelease(r)
	q.Invariants = compiled.Invariants(q) // which say from which file they are
	c := compiled.Of(q)
	madeHere.add(c)
	return c
}
