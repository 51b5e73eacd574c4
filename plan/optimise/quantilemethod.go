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

// This file holds the choice between the two ways to quantiles: to draw their values, or to read them from a
// distribution.

// QuantileMethod is a way to quantiles, with its accuracy for an amount.
type QuantileMethod struct {
	Counted counted.Counted // [counted.Quantiles], or [counted.Bins] to read them from
	// rankMargins are, for each share, the margin of its rank in rows; in weight for weighted quantiles.
	rankMargins []float64
	Half        float64 // half width of an interval, in the column's unit
	binWidth    float64 // width of a bin in the column's unit; 0 if a bin is one value
}

// DrawnQuantiles returns the accuracy of drawn quantiles for a cost. The ends of an interval are drawn for shifted
// ranks.
func DrawnQuantiles(t *workload.Table, r *spec.Release, cost budget.Cost) (QuantileMethod, error) {
	q, u := t.Quantiles(), t.Unit(r)
	m, err := q.Mechanism(u, cost)
	if err != nil {
		return QuantileMethod{}, err
	}
	shifted, err := q.Shifted(u.Table, m)
	if err != nil {
		return QuantileMethod{}, err
	}
	rows, over := t.Reference(r)
	way := QuantileMethod{Counted: q, rankMargins: slices.Repeat([]float64{q.RankMargin(u.Table, m)}, len(q.At))}
	way.Half = float64(over * shifted / rows)
	return way, nil
}

// planDistribution returns the measurement of a distribution.
func planDistribution(t *workload.Table, g *Group, noise budget.Kind, d counted.Bins) (PlannedMeasurement, error) {
	r := g.Release
	confidential := r.Table(t.Marginal.Table)
	l := confidential.Column(d.Column).Lattice
	p := PlannedMeasurement{Group: g, Table: t, Noise: noise, Counted: d, Selection: t.Selection,
		source: residual.CountsOf(nil, 0)}
	p.Cells = t.Groups() * d.Len(l)
	each, err := t.VarianceFactors(r, d)
	if err != nil {
		return p, err
	}
	p.addedVariance = workload.Mean(each)
	p.Sensitivity, err = d.Sensitivity(t.Unit(r))
	return p, err
}

// DistributionQuantiles returns the accuracy of quantiles that are read from a distribution, for its cost.
func DistributionQuantiles(t *workload.Table, g *Group, noise budget.Kind, amount float64,
	d counted.Bins) (QuantileMethod, error) {
	p, err := planDistribution(t, g, noise, d)
	if err != nil {
		return QuantileMethod{}, err
	}
	each, err := t.VarianceFactors(g.Release, d)
	if err != nil {
		return QuantileMethod{}, err
	}
	l := g.Release.Table(t.Marginal.Table).Column(d.Column).Lattice
	step, _ := l.Step.Float64()
	rows, over := t.Reference(g.Release)
	largest := rows / workload.GoodRows // weight of a row
	way := QuantileMethod{Counted: d}
	for _, x := range each {
		multiple := budget.NormalQuantile((1 - counted.Confidence) / 2)
		margin := float64(largest * multiple * math.Sqrt(float64(x*p.variance(amount))))
		way.rankMargins = append(way.rankMargins, margin)
	}
	if d.Width > 1 {
		way.binWidth = float64(step * float64(d.Width))
	}
	way.Half = float64(over*workload.Mean(way.rankMargins)/rows) + float64(way.binWidth/2)
	return way, nil
}

// BestDistribution returns the distribution with the narrowest intervals for an amount: of ε for Laplace noise, else
// of ρ. It reports false if there is none.
func BestDistribution(t *workload.Table, g *Group, noise budget.Kind, amount float64) (best QuantileMethod, found bool,
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
		if n > fewBins && noise != budget.Skellam { // the shifts of a strategy are not listed
			ranged := d.WithStrategy(residual.RangingOf(residual.Prefixes, int(n), laplace))
			ranged.Total = 1
			if ranged, err = workload.Balanced(ranged, l, q.Shares(), laplace); err != nil {
				return best, found, err
			}
			tries = append(tries, ranged)
		}
		for _, d := range tries {
			way, err := DistributionQuantiles(t, g, noise, amount, d)
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

// fewBins is the number of bins up to which a strategy is no better than counts.
const fewBins = 16

// CostValue returns a cost as a number: an ε for Laplace noise, else a ρ.
func CostValue(cost budget.Cost, noise budget.Kind) float64 {
	of := cost.Rho
	if noise.Pure() {
		of = cost.Epsilon
	}
	amount, _ := of.Float64()
	return amount
}

// CostWith returns a measurement's part of a leaf's amount, with a kind of noise: its share of ε or of ρ or, for
// Laplace noise in a budget of ρ, an ε of which ε²/2 is at most its share.
func (p PlannedMeasurement) CostWith(noise budget.Kind, amount budget.Cost) budget.Cost {
	if amount.Epsilon != nil {
		return budget.Cost{Epsilon: new(big.Rat).Mul(amount.Epsilon, p.Share)}
	}
	rho := new(big.Rat).Mul(amount.Rho, p.Share)
	if noise.Pure() {
		return budget.Cost{Epsilon: budget.RootBelow(rho.Add(rho, rho), LaplaceBits)}
	}
	return budget.Cost{Rho: rho}
}

// Quality returns the accuracy of the quantile with an index.
func (w QuantileMethod) Quality(r *spec.Release, t *workload.Table, index int) plan.Quality {
	rows, over := t.Reference(r)
	out := plan.Quality{Rows: int64(rows), Ranks: budget.RoundUp(w.rankMargins[index], plan.Significant),
		Cell: w.binWidth}
	d, read := w.Counted.(counted.Bins)
	if !read {
		out.Margin = budget.RoundUp(w.Half, plan.Significant)
		return out
	}
	out.Bins = d.PerCell(r.Table(t.Marginal.Table))
	out.Margin = budget.RoundUp(float64(over*w.rankMargins[index]/rows)+float64(w.binWidth/2), plan.Significant)
	return out
}
