package plan

import (
	"math"
	"math/big"
	"slices"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan/residual"
	"github.com/dprelease/dprelease/spec"
)

// This file holds the choice between the two ways to quantiles: values that are drawn, or a distribution that they are read from.

// A drawn quantile is off in rank by about the logarithm of how many values there are, times the number of draws in a pure budget
// and its root else; one that is read from a distribution by the noise of the counts up to it, however many are read, and by
// the width of a bin. What is compared is half the width of an interval, for a cell of goodRows rows that lie evenly over a tenth of
// the column's range: few columns fill theirs, and the fewer rows lie in a bin the less its width counts.
const rangeFilled = 10

// mostDistributed bounds the answers of a distribution.
const mostDistributed = int64(1) << 24

// quantileWay is a way to quantiles, and how good it will be at an amount.
type quantileWay struct {
	distribution *Distribution // nil: they are drawn
	ranks        []float64     // of each share by how many rows its rank is off at most; by how much weight of weighted ones
	half         float64       // of the width of an interval, in the column's unit
	cell         float64       // the width of a bin in the column's unit, 0 where a bin is one value
}

// canDistribute tells that quantiles of a part can be read from a distribution: of cells that have one range, and that are neither
// asked for targets, nor for bounds of a range that is only guessed.
func (t *table) canDistribute(r *spec.Release, needed bool) bool {
	l := r.Table(t.marginal.Table).Column(t.quantile.Column).Lattice
	apart := slices.ContainsFunc(t.counted, func(a spec.Attribute) bool { return a.Column == l.By }) // cells of strata
	return !needed && !t.of.guessed && !apart && l.Last > l.First && l.Last-l.First < math.MaxUint32
}

// reference is what is compared: how many rows, by weight, a cell has, and over how much of the column's unit they lie.
func (t *table) reference(r *spec.Release) (rows, over float64) {
	confidential := r.Table(t.marginal.Table)
	l := confidential.Column(t.quantile.Column).Lattice
	step, _ := l.Step.Float64()
	rows = goodRows
	if t.quantile.Weight {
		one, _ := confidential.Weight.Lattice.Step.Float64()
		rows *= float64(one * float64(confidential.Weight.Lattice.Last))
	}
	return rows, float64(step*float64(l.Last-l.First)) / rangeFilled
}

// drawnWay says how good drawn quantiles are that cost so much: the ends of an interval are drawn for ranks that are shifted.
func (t *table) drawnWay(r *spec.Release, cost budget.Cost) (quantileWay, error) {
	m, err := budget.QuantilesFor(cost, t.drawn(), t.unitRows(r))
	if err != nil {
		return quantileWay{}, err
	}
	shift, _, _, err := m.QuantileInterval(t.candidates(r), confidence)
	if err != nil {
		return quantileWay{}, err
	}
	rows, over := t.reference(r)
	way := quantileWay{ranks: slices.Repeat([]float64{t.rankMargin(r, m)}, len(t.quantile.At))}
	way.half = float64(over * t.inRows(r, shift) / rows)
	return way, nil
}

// shares are those of the quantiles of a part.
func (t *table) shares() []float64 {
	out := make([]float64, len(t.quantile.At))
	for i, text := range t.quantile.At {
		share, _ := new(big.Rat).SetString(text)
		out[i], _ = share.Float64()
	}
	return out
}

// groups is how many cells a part of quantiles has.
func (t *table) groups() int64 { return t.cells / drawsOfShare / int64(len(t.quantile.At)) }

// noiseOf is the sum of the squares of the weights that the noise of answers has in F − qN, for F the rows up to the bin of the
// quantile of a share q and N those of the cell: on the mean over bins that are spread evenly over the range, as the quantile may
// be in any. The first is the part of the answer that is Total times N, for a Total of 1.
func (d Distribution) noiseOf(l *spec.Lattice, shares []float64) (total, others []float64, err error) {
	n := int(d.Bins(l))
	c, axis, err := d.Strategy(l)
	if err != nil {
		return nil, nil, err
	}
	total, others = make([]float64, len(shares)), make([]float64, len(shares))
	for place := range placesOfQuantile {
		upTo := min(max((2*place+1)*n/(2*placesOfQuantile), 1), n-1)
		var part, noise float64 // of F
		if c != nil {
			q := slices.Concat(slices.Repeat([]float64{1}, upTo), make([]float64, n-upTo))
			part = c.Weights(axis, 0, q, false)[0]
			for _, w := range c.Weights(axis, axis.Level, q, false) {
				noise += float64(w * w)
			}
		}
		for i, share := range shares {
			if c == nil {
				others[i] += float64((float64(square(1-share)*float64(upTo)) + float64(square(share)*float64(n-upTo))) / placesOfQuantile)
				continue
			}
			total[i] += float64(square(part-share) / placesOfQuantile)
			others[i] += float64(noise / placesOfQuantile)
		}
	}
	return total, others, nil
}

// placesOfQuantile is for how many bins errors are worked out.
const placesOfQuantile = 8

// balanced is the distribution with the Total that makes the error least: of c·N and integers that a row moves by N₁ and √S, with
// parts T/c² and R, (c+N₁)²·(T/c²+R) is least at c³ = N₁·T/R, and (c²+S)·(T/c²+R) at c⁴ = S·T/R.
func (d Distribution) balanced(l *spec.Lattice, shares []float64, laplace bool) (Distribution, error) {
	total, others, err := d.noiseOf(l, shares)
	if err != nil {
		return d, err
	}
	c, axis, err := d.Strategy(l)
	if err != nil {
		return d, err
	}
	m := c.Moves(axis.Level)
	ratio := mean(total) / mean(others)
	best := math.Sqrt(math.Sqrt(float64(float64(m.Squares) * ratio)))
	if laplace {
		best = cubeRoot(max(1, float64(float64(m.Norm)*ratio)))
	}
	d.Total = int64(min(max(math.Floor(best+0.5), 1), float64(mostReach)))
	return d, nil
}

func mean(of []float64) float64 {
	var sum float64
	for _, x := range of {
		sum += x
	}
	return sum / float64(len(of))
}

// adds is what noise of variance 1 on the answers adds to each quantile's F − qN, on the mean, in rows of the largest weight.
func (t *table) adds(r *spec.Release, d Distribution) (each []float64, err error) {
	confidential := r.Table(t.marginal.Table)
	total, others, err := d.noiseOf(confidential.Column(d.Column).Lattice, t.shares())
	if err != nil {
		return nil, err
	}
	for i := range total {
		x := others[i]
		if d.Total > 0 {
			x += total[i] / square(float64(d.Total))
		}
		if d.Weight {
			x /= square(float64(confidential.Weight.Lattice.Last))
		}
		each = append(each, x)
	}
	return each, nil
}

// planDistribution is a distribution as it is measured.
func (t *table) planDistribution(g *group, noise budget.Kind, d Distribution) (planned, error) {
	r := g.release
	confidential := r.Table(t.marginal.Table)
	l := confidential.Column(d.Column).Lattice
	p := planned{group: g, table: t, noise: noise, distribution: &d, asks: residual.CountsOf(nil, 0)}
	p.cells = t.groups() * d.Bins(l)
	each, err := t.adds(r, d)
	if err != nil {
		return p, err
	}
	p.adds = mean(each)
	p.distance, err = d.distance(r, t.marginal.Table, t.perUnit, t.groups())
	return p, err
}

// distance is how far one unit moves the answers of so many cells.
func (d Distribution) distance(r *spec.Release, table string, bound *spec.PerUnit, groups int64) (*distance, error) {
	confidential := r.Table(table)
	l := confidential.Column(d.Column).Lattice
	all, each := rowsOf(confidential.Unit, bound, groups)
	most := int64(1)
	if d.Weight {
		most = confidential.Weight.Lattice.Last
	}
	return d.distributed(r.Privacy.Neighbours, l, all, each, most, groups*d.Bins(l))
}

// distributedWay says how good quantiles are that are read from a distribution that costs so much.
func (t *table) distributedWay(g *group, noise budget.Kind, amount float64, d Distribution) (quantileWay, error) {
	p, err := t.planDistribution(g, noise, d)
	if err != nil {
		return quantileWay{}, err
	}
	each, err := t.adds(g.release, d)
	if err != nil {
		return quantileWay{}, err
	}
	l := g.release.Table(t.marginal.Table).Column(d.Column).Lattice
	step, _ := l.Step.Float64()
	rows, over := t.reference(g.release)
	largest := rows / goodRows // weight of a row
	way := quantileWay{distribution: &d}
	for _, x := range each {
		margin := float64(largest * budget.NormalQuantile((1-confidence)/2) * math.Sqrt(float64(x*p.variance(amount))))
		way.ranks = append(way.ranks, margin)
	}
	if d.Width > 1 {
		way.cell = float64(step * float64(d.Width))
	}
	way.half = float64(over*mean(way.ranks)/rows) + float64(way.cell/2)
	return way, nil
}

// bestDistribution is the distribution with the narrowest intervals for an amount: of ε for Laplace noise, else of ρ. It fails where
// there is none.
func (t *table) bestDistribution(g *group, noise budget.Kind, amount float64) (best quantileWay, err error) {
	confidential := g.release.Table(t.marginal.Table)
	l := confidential.Column(t.quantile.Column).Lattice
	points := l.Last - l.First + 1
	laplace := noise == budget.DiscreteLaplace
	seen := int64(0) // bins
	for wanted := int64(2); wanted <= mostBins; wanted += max(1, wanted/3) {
		d := Distribution{Column: t.quantile.Column, Width: (points-1)/wanted + 1, Weight: t.quantile.Weight}
		n := d.Bins(l)
		if n == seen || n > mostDistributed/t.groups() {
			continue
		}
		seen = n
		tries := []Distribution{d}
		if n > fewBins {
			ranged := d
			f := Factor{Attribute: d.Column}.ranged(residual.RangingOf(residual.Prefixes, int(n), laplace))
			ranged.Total, ranged.Method, ranged.Kappa = 1, f.Method, f.Kappa
			if ranged, err = ranged.balanced(l, t.shares(), laplace); err != nil {
				return best, err
			}
			tries = append(tries, ranged)
		}
		for _, d := range tries {
			way, err := t.distributedWay(g, noise, amount, d)
			if err != nil {
				return best, err
			}
			if best.distribution == nil || way.half < best.half {
				best = way
			}
		}
	}
	return best, nil
}

// fewBins are too few for a strategy to be better than counts.
const fewBins = 16

// worth is a cost as a number: an ε for Laplace noise, else a ρ.
func worth(cost budget.Cost, noise budget.Kind) float64 {
	of := cost.Rho
	if noise == budget.DiscreteLaplace {
		of = cost.Epsilon
	}
	amount, _ := of.Float64()
	return amount
}

// chooseWays gives each part of quantiles that is better read from a distribution the one that is best for the amount that it has
// in a rough draft where all are drawn: a way for each of some kinds of noise.
func (d *draftPlan) chooseWays(kinds []budget.Kind) error {
	for _, p := range d.division.planned {
		t, g := p.table, p.group
		if t == nil || t.quantile == nil || !t.canDistribute(g.release, g.needed) {
			continue
		}
		for _, noise := range kinds {
			cost := d.costWith(p, noise)
			drawn, err := t.drawnWay(g.release, cost)
			if err != nil {
				return err
			}
			distributed, err := t.bestDistribution(g, noise, worth(cost, noise))
			if err != nil {
				return err
			}
			if distributed.distribution == nil || distributed.half >= drawn.half {
				continue
			}
			if t.distributions == nil {
				t.distributions = map[budget.Kind]*Distribution{}
			}
			t.distributions[noise] = distributed.distribution
		}
	}
	return nil
}

// costWith is about what a measurement has of the budget if its noise is of a kind. Under ε and δ it has at least what it would have
// of ε where all had Laplace noise, in proportion to the roots of their ρ.
func (d *draftPlan) costWith(p planned, noise budget.Kind) budget.Cost {
	cost := p.costWith(noise, d.plan.Leaves[p.group.leaf].Amount)
	asked := p.group.release.Budget
	if asked.Delta == nil || noise != budget.DiscreteLaplace {
		return cost
	}
	root := func(p planned) float64 {
		if p.share == nil {
			return 0
		}
		return math.Sqrt(worth(p.costWith(budget.DiscreteGaussian, d.plan.Leaves[p.group.leaf].Amount), budget.DiscreteGaussian))
	}
	var roots float64
	for _, other := range d.division.planned {
		roots += root(other)
	}
	part := exactShares([]float64{root(p), roots - root(p)})[0]
	if epsilon := part.Mul(part, asked.Epsilon); epsilon.Cmp(cost.Epsilon) > 0 {
		cost.Epsilon = epsilon
	}
	return cost
}

// costWith is what a measurement has of a leaf's amount, with a kind of noise.
func (p planned) costWith(noise budget.Kind, amount budget.Cost) budget.Cost {
	if amount.Epsilon != nil {
		return budget.Cost{Epsilon: new(big.Rat).Mul(amount.Epsilon, p.share)}
	}
	rho := new(big.Rat).Mul(amount.Rho, p.share)
	if noise == budget.DiscreteLaplace {
		return budget.Cost{Epsilon: rootBelow(rho.Add(rho, rho), laplaceBits)}
	}
	return budget.Cost{Rho: rho}
}

// quality says how good the quantile at a place is.
func (w quantileWay) quality(r *spec.Release, t *table, place int) Quality {
	rows, over := t.reference(r)
	out := Quality{Rows: int64(rows), Ranks: budget.RoundUp(w.ranks[place], significant), Cell: w.cell}
	if w.distribution == nil {
		out.Margin = budget.RoundUp(w.half, significant)
		return out
	}
	out.Bins = w.distribution.Bins(r.Table(t.marginal.Table).Column(t.quantile.Column).Lattice)
	out.Margin = budget.RoundUp(float64(over*w.ranks[place]/rows)+float64(w.cell/2), significant)
	return out
}

// assessQuantiles says how good quantiles will be, and how good the other way to them would be for the same.
func (d *draftPlan) assessQuantiles() error {
	for _, p := range d.division.planned {
		t, g := p.table, p.group
		if t == nil || t.quantile == nil {
			continue
		}
		cost := budget.Cost{Rho: p.needs}
		switch {
		case p.share != nil:
			cost = p.costWith(p.noise, d.plan.Leaves[g.leaf].Amount)
		case p.noise == budget.DiscreteLaplace:
			cost = budget.Cost{Epsilon: p.needs}
		}
		ways := make([]quantileWay, 1, 2) // the one that is taken first
		var err error
		if ways[0], err = t.drawnWay(g.release, cost); err != nil {
			return err
		}
		if t.canDistribute(g.release, g.needed) {
			var other quantileWay
			amount := worth(cost, p.noise)
			if p.distribution != nil {
				other, err = t.distributedWay(g, p.noise, amount, *p.distribution)
				ways = append(ways[:0], other, ways[0])
			} else if other, err = t.bestDistribution(g, p.noise, amount); other.distribution != nil {
				ways = append(ways, other)
			}
			if err != nil {
				return err
			}
		}
		d.plan.assessQuantiles(g.release, t, ways)
	}
	return nil
}

// assessQuantiles says how good the quantiles of a part will be, by the way that is taken and by the other.
func (p *Plan) assessQuantiles(r *spec.Release, part *table, ways []quantileWay) {
	for _, t := range p.Tables {
		for i, f := range t.Figures {
			if f.Kind != spec.Quantiles || f.Part != part.path {
				continue
			}
			quality := ways[0].quality(r, part, f.Place)
			if len(ways) > 1 {
				other := ways[1].quality(r, part, f.Place)
				quality.Instead = &other
			}
			t.Figures[i].Quality = quality
		}
	}
}
