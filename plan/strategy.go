package plan

import (
	"math"
	"slices"

	"github.com/dprelease/dprelease/budget"
)

// This file holds the strategies: which questions are asked so that the tables have the least error.

// StrategyKind names a way to measure a group of tables.
type StrategyKind string

const (
	// Direct measures each table by itself.
	Direct StrategyKind = "direct"
	// Largest measures the tables that lie in no other of the group; the others are sums of them.
	Largest StrategyKind = "largest"
	// Residuals measures every part that the tables share once.
	Residuals StrategyKind = "residuals"
	// ResidualsAndTables measures what the tables share, and some tables by themselves.
	ResidualsAndTables StrategyKind = "residuals-and-tables"
	// EqualShares measures each table by itself, all for the same. It is what others do, and is taken where nothing else
	// leaves no table worse.
	EqualShares StrategyKind = "equal-shares"
)

// Strategy is how a group of tables is measured: tables of one budget leaf that share columns.
type Strategy struct {
	Leaf   string       `json:"leaf,omitempty"`
	Kind   StrategyKind `json:"kind"`
	Noise  budget.Kind  `json:"noise"`
	Tables []string     `json:"tables"`
	// Measurements is how many of the plan's measurements are for this group; they stand in the order of the strategies.
	Measurements int `json:"measurements"`
	// RMSE is the root mean square of the standard errors of all cells of these tables, as planned from this group's
	// measurements alone, every table put together from all of them that bear on it.
	RMSE float64 `json:"rmse"`
	// Instead are the strategies that were not taken, with what they would have had.
	Instead []Alternative `json:"instead,omitempty"`
}

// Alternative is a strategy that was not taken: for its error, or in a leaf of targets for what it needs, or because it
// cannot be. The error of another kind of noise is what it would be if the whole release had that kind, under the
// budget's ε and δ; that of another strategy is for the same part of the leaf.
type Alternative struct {
	Kind  StrategyKind `json:"kind"`
	Noise budget.Kind  `json:"noise"`
	RMSE  float64      `json:"rmse,omitempty"`
	Needs string       `json:"needs,omitempty"` // of ε in a pure budget, else of ρ
	// Charge is the ρ that the release would be charged with this kind of noise, where that is another.
	Charge string `json:"charge,omitempty"`
	Why    string `json:"why,omitempty"`
}

// strategies say what was chosen, and beside it what was not.
func (b *blueprint) strategies(d *division, uniform []*division) []Strategy {
	var all []Strategy
	for i, g := range b.groups {
		taken := d.taken[i]
		s := Strategy{
			Leaf: d.leaves[g.leaf].Path, Kind: taken.kind, Noise: taken.noise, Measurements: len(taken.planned),
			RMSE: g.rmse(taken, taken.perRho(), d, i),
		}
		for j, other := range g.designs {
			of, instead := d, Alternative{Kind: other.kind, Noise: other.noise}
			switch {
			case j == d.choice[i], other.noise != taken.noise && !slices.Contains(g.best, j):
				continue
			case g.needed:
				instead.Needs = budget.DecimalUp(b.charge(other.planned), significant)
				s.Instead = append(s.Instead, instead)
				continue
			case other.noise != taken.noise:
				if of = uniform[slices.Index(g.best, j)]; of == nil {
					instead.Why = "with " + noiseName(other.noise) + " noise it has no chance under ε and δ"
					s.Instead = append(s.Instead, instead)
					continue
				}
				instead.Charge = budget.DecimalUp(of.cost.Rho, of.digits())
			}
			if other.noise == taken.noise { // for the same ρ, or the same ε of Laplace noise
				instead.RMSE = g.rmse(other, taken.perRho(), of, i)
			} else {
				instead.RMSE = g.rmse(other, other.perRho(), of, i)
			}
			s.Instead = append(s.Instead, instead)
		}
		if equal, ok := g.equalShares(b.release, taken.noise); ok && taken.kind != EqualShares {
			s.Instead = append(s.Instead, Alternative{Kind: EqualShares, Noise: taken.noise, RMSE: g.rmse(equal, taken.perRho(), d, i)})
		}
		s.Instead = append(s.Instead, g.reasons...)
		for _, t := range g.tables {
			s.Tables = append(s.Tables, t.path)
		}
		all = append(all, s)
	}
	return all
}

// rmse is the root mean square error of the group's figures by one of its designs, for its part of a division: of ε, or of
// the ρ that an amount of 1 takes.
func (g *group) rmse(design design, perRho float64, d *division, i int) float64 {
	var cells float64
	for _, t := range g.tables {
		cells += float64(t.possible())
	}
	spread := design.spread
	if !g.needed {
		spread = atShare(spread, perRho, d.leaves[g.leaf].Amount, d.shares[i])
	}
	return budget.RoundUp(float64(math.Sqrt(spread/cells)*g.unit), d.digits())
}

// digits is how many significant digits of a division's figures are told.
func (d *division) digits() int {
	if d.about {
		return 3
	}
	return significant
}
