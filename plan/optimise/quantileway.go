package optimise

import (
	"math"
	"math/big"
	"slices"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/plan/limit"
	"github.com/dprelease/dprelease/plan/residual"
	"github.com/dprelease/dprelease/plan/workload"
	"github.com/dprelease/dprelease/spec"
)

// This file holds the choice between the two ways to quantiles: values that are drawn, or a distribution that they are
// read from.

// QuantileWay is a way to quantiles, and how good it will be at an amount.
type QuantileWay struct {
	What counted.Counted // [counted.Quantiles], or [counted.Bins] that they are read from
	// of each share by how many rows its rank is off at most; by how much weight of weighted ones
	ranks []float64
	Half  float64 // of the width of an interval, in the column's unit
	cell  float64 // the width of a bin in the column's unit, 0 where a bin is one value
}

// DrawnWay says how good drawn quantiles are that cost so much: the ends of an interval are drawn for ranks that are
// shifted.
func DrawnWay(t *workload.Table, r *spec.Release, cost budget.Cost) (QuantileWay, error) {
	q, u := t.Quantiles(), t.Unit(r)
	m, err := q.Mechanism(u, cost)
	if err != nil {
		return QuantileWay{}, err
	}
	shifted, err := q.Shifted(u.Table, m)
	if err != nil {
		return QuantileWay{}, err
	}
	rows, over := t.Reference(r)
	way := QuantileWay{What: q, ranks: slices.Repeat([]float64{q.RankMargin(u.Table, m)}, len(q.At))}
	way.Half = float64(over * shifted / rows)
	return way, nil
}

// planDistribution is a distribution as it is measured.
func planDistribution(t *workload.Table, g *Group, noise budget.Kind, d counted.Bins) (Planned, error) {
	r := g.Release
	confidential := r.Table(t.Marginal.Table)
	l := confidential.Column(d.Column).Lattice
	p := Planned{Group: g, Table: t, Noise: noise, What: d, Selection: t.Selection, asks: residual.CountsOf(nil, 0)}
	p.Cells = t.Groups() * d.Len(l)
	each, err := t.Adds(r, d)
	if err != nil {
		return p, err
	}
	p.adds = workload.Mean(each)
	p.Sensitivity, err = d.Sensitivity(t.Unit(r))
	return p, err
}

// DistributedWay says how good quantiles are that are read from a distribution that costs so much.
func DistributedWay(t *workload.Table, g *Group, noise budget.Kind, amount float64, d counted.Bins) (QuantileWay,
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
	way := QuantileWay{What: d}
	for _, x := range each {
		multiple := budget.NormalQuantile((1 - counted.Confidence) / 2)
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
// It reports whether there is one.
func BestDistribution(t *workload.Table, g *Group, noise budget.Kind, amount float64) (best QuantileWay, found bool,
	err error) {
	q := t.Quantiles()
	confidential := g.Release.Table(t.Marginal.Table)
	l := confidential.Column(q.Column).Lattice
	points := l.Last - l.First + 1
	laplace := noise.Pure()
	seen := int64(0) // bins
	for wanted := int64(2); wanted <= limit.Bins; wanted += max(1, wanted/3) {
		d := counted.Bins{Column: q.Column, Width: (points-1)/wanted + 1, Weight: q.Weight}
		n := d.Len(l)
		if n == seen || n > workload.MostDistributed/t.Groups() {
			continue
		}
		seen = n
		tries := []counted.Bins{d}
		if n > fewBins {
			ranged := d.WithStrategy(residual.RangingOf(residual.Prefixes, int(n), laplace))
			ranged.Total = 1
			if ranged, err = workload.Balanced(ranged, l, q.Shares(), laplace); err != nil {
				return best, found, err
			}
			tries = append(tries, ranged)
		}
		for _, d := range tries {
			way, err := DistributedWay(t, g, noise, amount, d)
			if err != nil {
				return best, found, err
			}
			if !found || way.Half < best.Half {
				best, found = way, true
			}
		}
	}
	return best, found, nil
}

// fewBins are too few for a strategy to be better than counts.
const fewBins = 16

// Worth is a cost as a number: an ε for Laplace noise, else a ρ.
func Worth(cost budget.Cost, noise budget.Kind) float64 {
	of := cost.Rho
	if noise.Pure() {
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
	if noise.Pure() {
		return budget.Cost{Epsilon: budget.RootBelow(rho.Add(rho, rho), LaplaceBits)}
	}
	return budget.Cost{Rho: rho}
}

// Quality says how good the quantile at a place is.
func (w QuantileWay) Quality(r *spec.Release, t *workload.Table, place int) plan.Quality {
	rows, over := t.Reference(r)
	out := plan.Quality{Rows: int64(rows), Ranks: budget.RoundUp(w.ranks[place], plan.Significant), Cell: w.cell}
	d, read := w.What.(counted.Bins)
	if !read {
		out.Margin = budget.RoundUp(w.Half, plan.Significant)
		return out
	}
	out.Bins = d.PerCell(r.Table(t.Marginal.Table))
	out.Margin = budget.RoundUp(float64(over*w.ranks[place]/rows)+float64(w.cell/2), plan.Significant)
	return out
}
