package optimise

import (
	"math"
	"slices"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/phrase"
	"github.com/dprelease/dprelease/plan/strategy"
)

// This file holds the strategies as the plan states them: what each group of tables does, and the errors of the
// alternatives.

// Strategies returns what was chosen for each group, with the alternatives that were not.
func (b *Blueprint) Strategies(d *Division, uniform []*Division) []strategy.Group {
	var all []strategy.Group
	for i, g := range b.Groups {
		taken := d.ChosenDesigns[i]
		s := strategy.Group{
			Leaf: d.Leaves[g.Leaf].Path, Kind: taken.Kind, Noise: taken.Noise, Measurements: len(taken.Measurements),
			RMSE: g.rmse(taken, taken.perRho(), d, i),
		}
		for j, other := range g.Designs {
			of, instead := d, strategy.Alternative{Kind: other.Kind, Noise: other.Noise}
			switch {
			case j == d.choice[i], other.Noise != taken.Noise && !slices.Contains(g.Best, j):
				continue
			case g.Needed:
				instead.BudgetNeeded = budget.DecimalUp(totalCharge(other.Measurements, b.Pure), plan.Significant)
				s.Alternatives = append(s.Alternatives, instead)
				continue
			case other.Noise != taken.Noise:
				if of = uniform[slices.Index(g.Best, j)]; of == nil {
					instead.Why = phrase.New(phrase.NoChance, other.Noise)
					s.Alternatives = append(s.Alternatives, instead)
					continue
				}
				instead.Charge = budget.DecimalUp(of.Cost.Rho, of.significantDigits())
			}
			if other.Noise == taken.Noise { // for the same ρ, or the same ε of Laplace noise
				instead.RMSE = g.rmse(other, taken.perRho(), of, i)
			} else {
				instead.RMSE = g.rmse(other, other.perRho(), of, i)
			}
			s.Alternatives = append(s.Alternatives, instead)
		}
		if equal, ok := g.equalShares(b.Release, taken.Noise); ok && taken.Kind != strategy.EqualShares {
			s.Alternatives = append(s.Alternatives, strategy.Alternative{Kind: strategy.EqualShares, Noise: taken.Noise,
				RMSE: g.rmse(equal, taken.perRho(), d, i)})
		}
		s.Alternatives = append(s.Alternatives, g.Reasons...)
		for _, t := range g.Tables {
			s.Tables = append(s.Tables, t.Path)
		}
		all = append(all, s)
	}
	return all
}

// rmse returns the root mean square error of the group's figures by one of its designs, for its part of a division:
// of ε, or of the ρ that an amount of 1 takes.
func (g *Group) rmse(design Design, perRho float64, d *Division, i int) float64 {
	var cells float64
	for _, t := range g.Tables {
		cells += float64(t.Possible())
	}
	spread := design.Spread
	if !g.Needed {
		spread = atShare(spread, perRho, d.Leaves[g.Leaf].Amount, d.Shares[i])
	}
	return budget.RoundUp(float64(math.Sqrt(spread/cells)*g.Unit), d.significantDigits())
}

// significantDigits returns how many significant digits of a division's figures are stated.
func (d *Division) significantDigits() int {
	if d.isRough {
		return 3
	}
	return plan.Significant
}
