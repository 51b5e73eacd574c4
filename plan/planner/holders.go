package planner

import (
	"math/big"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/document"
)

// This file holds what a plan says of several holders, and what they cannot add up.

// holdersOf returns the holders of a release, nil if all data are in one place.
func holdersOf(r *spec.Release) *plan.Holders {
	if r.Holders == nil {
		return nil
	}
	out := &plan.Holders{Overlap: r.Holders.Overlap, Trusted: r.Holders.Trusted}
	for _, h := range r.Holders.All {
		out.Names = append(out.Names, h.Name)
	}
	return out
}

// mostShareScale is the largest scale of which a share can be drawn (noise.MostShareScale).
var mostShareScale = big.NewRat(1<<16, 1)

// checkHolders returns an error for a plan of several holders with a measurement that is not a sum of theirs, with
// noise that is a sum of their shares.
//
// Contract: in a plan that New returns without an error, every measurement of a release of several holders is linear in
// the rows, and has noise of the release's shares. That it gives out all of its answers is seen to by the spec, which
// refuses selections. Argument: docs/proofs/holders.md.
func checkHolders(p *plan.Plan) error {
	holders := p.Release().Holders
	if holders == nil {
		return nil
	}
	for _, m := range p.Measurements {
		mechanism := m.Mechanism
		switch {
		case m.Query.Counted.Kind().Traits().Drawn:
			return holdersCannot(p, m, "its answers are drawn from all rows, of which each holder has a part",
				"another statistic, or quantiles of fewer groups, which are read from bins")
		case mechanism.Shares != holders.Shares():
			return holdersCannot(p, m, "it would have Gaussian noise, which holders cannot add up from shares exactly",
				"a budget of epsilon alone, or no sums or ranges along a column")
		case mechanism.Kind.Pure() && mechanism.Parameter.Cmp(mostShareScale) > 0:
			return holdersCannot(p, m, "its noise is too wide for holders to draw: a share is drawn from a table of its law",
				"a coarser step or a smaller range of the numbers that are summed, a smaller max_rows, or more of the budget")
		}
	}
	return nil
}

// holdersCannot returns the error for a measurement that several holders cannot make.
func holdersCannot(p *plan.Plan, m plan.Measurement, why, expected string) error {
	path := "holders"
	for _, t := range p.Tables {
		for _, s := range t.Statistics {
			if s.Measurement == m.ID {
				path = "marginals." + t.Marginal
			}
		}
	}
	return p.Release().Problem(path, document.Problem{
		Message: m.ID + " cannot be measured by several holders: " + why, Expected: expected})
}
