package planner

import (
	"math"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/plan/optimise"
	"github.com/dprelease/dprelease/plan/workload"
	"github.com/dprelease/dprelease/spec"
)

// This file chooses the way of every quantile: drawn, or read from a distribution.

// isOfQuantiles reports whether a table is a part of quantiles.
func isOfQuantiles(t *workload.Table) bool { return t.Counted.Kind() == counted.KindQuantiles }

// chooseWays decides which parts of quantiles are read from a distribution. In a rough draft where all are drawn, it
// compares the best distribution for a part's amount with drawing, for each kind of noise.
func (d *draftPlan) chooseWays(kinds []budget.Kind) error {
	for _, p := range d.division.Measurements {
		t, g := p.Table, p.Group
		if t == nil || !isOfQuantiles(t) || !t.CanDistribute(g.Release, g.Needed) {
			continue
		}
		for _, noise := range kinds {
			cost := d.costWith(p, noise)
			drawn, err := optimise.DrawnQuantiles(t, g.Release, cost)
			if err != nil {
				return err
			}
			distributed, found, err := optimise.BestDistribution(t, g, noise, optimise.CostValue(cost, noise))
			if err != nil {
				return err
			}
			if !found || distributed.Half >= drawn.Half && g.Release.Holders == nil {
				continue
			}
			if t.Bins == nil {
				t.Bins = map[budget.Kind]counted.Bins{}
			}
			t.Bins[noise] = distributed.Counted.(counted.Bins)
		}
	}
	return nil
}

// costWith returns approximately what a measurement has of the budget if its noise is of a kind. Under ε and δ that
// is at least its part of ε if all had Laplace noise, in proportion to the roots of their ρ.
func (d *draftPlan) costWith(p optimise.PlannedMeasurement, noise budget.Kind) budget.Cost {
	cost := p.CostWith(noise, d.plan.Leaves[p.Group.Leaf].Amount)
	budgeted := p.Group.Release.Budget
	if budgeted.Delta == nil || !noise.Pure() {
		return cost
	}
	root := func(p optimise.PlannedMeasurement) float64 {
		if p.Share == nil {
			return 0
		}
		inRho := budget.DefaultLaw(false)
		return math.Sqrt(optimise.CostValue(p.CostWith(inRho, d.plan.Leaves[p.Group.Leaf].Amount), inRho))
	}
	var roots float64
	for _, other := range d.division.Measurements {
		roots += root(other)
	}
	part := optimise.ExactShares([]float64{root(p), roots - root(p)})[0]
	if epsilon := part.Mul(part, budgeted.Epsilon); epsilon.Cmp(cost.Epsilon) > 0 {
		cost.Epsilon = epsilon
	}
	return cost
}

// setQuality predicts the accuracy of quantiles, and of the other way to them for the same cost.
func (d *draftPlan) assessQuantiles() error {
	for _, p := range d.division.Measurements {
		t, g := p.Table, p.Group
		if t == nil || !isOfQuantiles(t) {
			continue
		}
		cost := budget.Cost{Rho: p.TargetCost}
		switch {
		case p.Share != nil:
			cost = p.CostWith(p.Noise, d.plan.Leaves[g.Leaf].Amount)
		case p.Noise.Pure():
			cost = budget.Cost{Epsilon: p.TargetCost}
		}
		ways := make([]optimise.QuantileMethod, 1, 2) // the one that is taken first
		var err error
		if ways[0], err = optimise.DrawnQuantiles(t, g.Release, cost); err != nil {
			return err
		}
		if t.CanDistribute(g.Release, g.Needed) {
			var other optimise.QuantileMethod
			amount := optimise.CostValue(cost, p.Noise)
			if bins, read := p.Counted.(counted.Bins); read {
				other, err = optimise.DistributionQuantiles(t, g, p.Noise, amount, bins)
				if ways = append(ways[:0], other, ways[0]); g.Release.Holders != nil {
					ways = ways[:1] // holders cannot draw them
				}
			} else {
				var found bool
				if other, found, err = optimise.BestDistribution(t, g, p.Noise, amount); found {
					ways = append(ways, other)
				}
			}
			if err != nil {
				return err
			}
		}
		setQuality(d.plan, g.Release, t, ways)
	}
	return nil
}

// setQuality states the accuracy of the quantiles of a part, by the chosen way and by the other.
func setQuality(p *plan.Plan, r *spec.Release, part *workload.Table, ways []optimise.QuantileMethod) {
	for _, t := range p.Tables {
		for i, f := range t.Figures {
			if f.Part != part.Path {
				continue
			}
			quality := ways[0].Quality(r, part, f.Index)
			if len(ways) > 1 {
				other := ways[1].Quality(r, part, f.Index)
				quality.Alternative = &other
			}
			t.Figures[i].Quality = quality
		}
	}
}
