package optimise

import (
	"math"
	"math/big"
	"slices"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/limit"
	"github.com/dprelease/dprelease/plan/residual"
	"github.com/dprelease/dprelease/plan/statistic"
	"github.com/dprelease/dprelease/plan/workload"
	"github.com/dprelease/dprelease/spec"
)

// This file holds the choice between the two ways to quantiles: values that are drawn, or a distribution that they are
// read from.

// QuantileWay is a way to quantiles, and how good it will be at an amount.
type QuantileWay struct {
	Distribution *plan.Distribution // nil: they are drawn
	// of each share by how many rows its rank is off at most; by how much weight of weighted ones
	ranks []float64
	Half  float64 // of the width of an interval, in the column's unit
	cell  float64 // the width of a bin in the column's unit, 0 where a bin is one value
}

// DrawnWay says how good drawn quantiles are that cost so much: the ends of an interval are drawn for ranks that are
// shifted.
func DrawnWay(t *workload.Table, r *spec.Release, cost budget.Cost) (QuantileWay, error) {
	m, err := budget.QuantilesFor(cost, t.Drawn(), t.UnitRows(r))
	if err != nil {
		return QuantileWay{}, err
	}
	shift, _, _, err := m.QuantileInterval(t.Candidates(r), statistic.Confidence)
	if err != nil {
		return QuantileWay{}, err
	}
	rows, over := t.Reference(r)
	way := QuantileWay{ranks: slices.Repeat([]float64{t.RankMargin(r, m)}, len(t.Quantile.At))}
	way.Half = float64(over * t.InRows(r, shift) / rows)
	return way, nil
}

// planDistribution is a distribution as it is measured.
func planDistribution(t *workload.Table, g *Group, noise budget.Kind, d plan.Distribution) (Planned, error) {
	r := g.Release
	confidential := r.Table(t.Marginal.Table)
	l := confidential.Column(d.Column).Lattice
	p := Planned{Group: g, Table: t, Noise: noise, Distribution: &d, asks: residual.CountsOf(nil, 0)}
	p.Cells = t.Groups() * d.Bins(l)
	each, err := t.Adds(r, d)
	if err != nil {
		return p, err
	}
	p.adds = workload.Mean(each)
	p.Sensitivity, err = workload.DistributionSensitivity(d, r, t.Marginal.Table, t.PerUnit, t.Groups())
	return p, err
}

// DistributedWay says how good quantiles are that are read from a distribution that costs so much.
func DistributedWay(t *workload.Table, g *Group, noise budget.Kind, amount float64, d plan.Distribution) (QuantileWay,
	error) {
	p, err := planDistribution(t, g, noise, d)
	if err != nil {
		return QuantileWay{}, err
	}
	each, err := t.Adds(g.Release, d)
	if err != nil {
		return QuantileWay{}, err
	}
	l := g.Release.Table(t.Marginal.Table).Column(d.Column).Lattice
	step, _ := l.Step.Float64()
	rows, over := t.Reference(g.Release)
	largest := rows / workload.GoodRows // weight of a row
	way := QuantileWay{Distribution: &d}
	for _, x := range each {
		multiple := budget.NormalQuantile((1 - statistic.Confidence) / 2)
		margin := float64(largest * multiple * math.Sqrt(float64(x*p.variance(amount))))
		way.ranks = append(way.ranks, margin)
	}
	if d.Width > 1 {
		way.cell = float64(step * float64(d.Width))
	}
	way.Half = float64(over*workload.Mean(way.ranks)/rows) + float64(way.cell/2)
	return way, nil
}

// BestDistribution is the distribution with the narrowest intervals for an amount: of ε for Laplace noise, else of ρ.
// It fails where there is none.
func BestDistribution(t *workload.Table, g *Group, noise budget.Kind, amount float64) (best QuantileWay, err error) {
	confidential := g.Release.Table(t.Marginal.Table)
	l := confidential.Column(t.Quantile.Column).Lattice
	points := l.Last - l.First + 1
	laplace := noise == budget.DiscreteLaplace
	seen := int64(0) // bins
	for wanted := int64(2); wanted <= limit.Bins; wanted += max(1, wanted/3) {
		d := plan.Distribution{Column: t.Quantile.Column, Width: (points-1)/wanted + 1, Weight: t.Quantile.Weight}
		n := d.Bins(l)
		if n == seen || n > workload.MostDistributed/t.Groups() {
			continue
		}
		seen = n
		tries := []plan.Distribution{d}
		if n > fewBins {
			ranged := d
			f := plan.Factor{Attribute: d.Column}.Ranged(residual.RangingOf(residual.Prefixes, int(n), laplace))
			ranged.Total, ranged.Method, ranged.Kappa = 1, f.Method, f.Kappa
			if ranged, err = workload.Balanced(ranged, l, t.Shares(), laplace); err != nil {
				return best, err
			}
			tries = append(tries, ranged)
		}
		for _, d := range tries {
			way, err := DistributedWay(t, g, noise, amount, d)
			if err != nil {
				return best, err
			}
			if best.Distribution == nil || way.Half < best.Half {
				best = way
			}
		}
	}
	return best, nil
}

// fewBins are too few for a strategy to be better than counts.
const fewBins = 16

// Worth is a cost as a number: an ε for Laplace noise, else a ρ.
func Worth(cost budget.Cost, noise budget.Kind) float64 {
	of := cost.Rho
	if noise == budget.DiscreteLaplace {
		of = cost.Epsilon
	}
	amount, _ := of.Float64()
	return amount
}

// CostWith is what a measurement has of a leaf's amount, with a kind of noise: its share of ε or of ρ or, for Laplace
// noise in a budget of ρ, an ε of which ε²/2 is at most its share.
func (p Planned) CostWith(noise budget.Kind, amount budget.Cost) budget.Cost {
	if amount.Epsilon != nil {
		return budget.Cost{Epsilon: new(big.Rat).Mul(amount.Epsilon, p.Share)}
	}
	rho := new(big.Rat).Mul(amount.Rho, p.Share)
	if noise == budget.DiscreteLaplace {
		return budget.Cost{Epsilon: budget.RootBelow(rho.Add(rho, rho), LaplaceBits)}
	}
	return budget.Cost{Rho: rho}
}

// Quality says how good the quantile at a place is.
func (w QuantileWay) Quality(r *spec.Release, t *workload.Table, place int) plan.Quality {
	rows, over := t.Reference(r)
	out := plan.Quality{Rows: int64(rows), Ranks: budget.RoundUp(w.ranks[place], plan.Significant), Cell: w.cell}
	if w.Distribution == nil {
		out.Margin = budget.RoundUp(w.Half, plan.Significant)
		return out
	}
	out.Bins = w.Distribution.Bins(r.Table(t.Marginal.Table).Column(t.Quantile.Column).Lattice)
	out.Margin = budget.RoundUp(float64(over*w.ranks[place]/rows)+float64(w.cell/2), plan.Significant)
	return out
}
