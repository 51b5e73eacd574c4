package workload

import (
	"math"
	"slices"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/plan/limit"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/domain"
)

// This file holds the distributions that quantiles can be read from: their bins, and what noise on them adds.

// The rank of a drawn quantile is off by about the logarithm of the number of values, times the number of draws in a
// pure budget and its root otherwise. The rank of a quantile read from a distribution is off by the noise of the
// counts up to it, however many are read, and by the width of a bin. The two are compared by the half width of an
// interval, for a cell of GoodRows rows that lie evenly over a tenth of the column's range: few columns fill theirs,
// and the fewer rows lie in a bin the less its width counts.
const rangeFilled = 10

// MostDistributed bounds the answers of a distribution.
const MostDistributed = int64(1) << 24

// CanDistribute reports whether quantiles of a part can be read from a distribution: its cells must have one range,
// and they must be needed neither for targets nor for bounds of a range that is only guessed.
func (t *Table) CanDistribute(r *spec.Release, needed bool) bool {
	l := r.Table(t.Marginal.Table).Column(t.Quantiles().Column).Lattice
	stratified := slices.ContainsFunc(t.CountedBy, func(a spec.Attribute) bool { return a.Column == l.By })
	return !needed && !t.PartOf.guessed && !stratified && l.Last > l.First && l.Last-l.First < math.MaxUint32
}

// Reference returns what is compared: how many rows, by weight, a cell has, and how much of the column's unit they
// spread over.
func (t *Table) Reference(r *spec.Release) (rows, over float64) {
	confidential := r.Table(t.Marginal.Table)
	l := confidential.Column(t.Quantiles().Column).Lattice
	step, _ := l.Step.Float64()
	steps, one := largestWeight(confidential, t.Counted)
	return GoodRows * float64(one*steps), float64(step*float64(l.Last-l.First)) / rangeFilled
}

// noiseOf returns the sum of the squares of the weights that the noise of answers has in F − qN, for F the rows up to
// the bin of the quantile of a share q and N those of the cell: on the mean over bins that are spread evenly over the
// range, as the quantile may be in any. The first is the part of the answer that is Total times N, for a Total of 1.
func noiseOf(d counted.Bins, l *domain.Lattice, shares []float64) (total, others []float64, err error) {
	n := int(d.Len(l))
	c, axis, err := d.Strategy(l)
	if err != nil {
		return nil, nil, err
	}
	total, others = make([]float64, len(shares)), make([]float64, len(shares))
	for position := range quantilePositions {
		upTo := min(max((2*position+1)*n/(2*quantilePositions), 1), n-1)
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
				others[i] += float64((float64(Square(1-share)*float64(upTo)) +
					float64(Square(share)*float64(n-upTo))) / quantilePositions)
				continue
			}
			total[i] += float64(Square(part-share) / quantilePositions)
			others[i] += float64(noise / quantilePositions)
		}
	}
	return total, others, nil
}

// quantilePositions is the number of bins for which errors are worked out.
const quantilePositions = 8

// Balanced returns the distribution with the Total that minimises the error: of c·N and integers that a row changes
// by N₁ and √S, with parts T/c² and R, (c+N₁)²·(T/c²+R) is least at c³ = N₁·T/R, and (c²+S)·(T/c²+R) at c⁴ = S·T/R.
func Balanced(d counted.Bins, l *domain.Lattice, shares []float64, laplace bool) (counted.Bins, error) {
	total, others, err := noiseOf(d, l, shares)
	if err != nil {
		return d, err
	}
	c, axis, err := d.Strategy(l)
	if err != nil {
		return d, err
	}
	m := c.Sensitivity(axis.Level)
	ratio := Mean(total) / Mean(others)
	best := math.Sqrt(math.Sqrt(float64(float64(m.Squares) * ratio)))
	if laplace {
		best = budget.CubeRoot(max(1, float64(float64(m.Norm)*ratio)))
	}
	d.Total = int64(min(max(math.Floor(best+0.5), 1), float64(limit.ResidualFactor)))
	return d, nil
}

func Mean(of []float64) float64 {
	var sum float64
	for _, x := range of {
		sum += x
	}
	return sum / float64(len(of))
}

// VarianceFactors returns the mean variance that noise of variance 1 on the answers adds to each quantile's F − qN, in
// rows of the largest weight.
func (t *Table) VarianceFactors(r *spec.Release, d counted.Bins) (each []float64, err error) {
	confidential := r.Table(t.Marginal.Table)
	total, others, err := noiseOf(d, confidential.Column(d.Column).Lattice, t.Quantiles().Shares())
	if err != nil {
		return nil, err
	}
	steps, _ := largestWeight(confidential, d)
	for i := range total {
		x := others[i]
		if d.Total > 0 {
			x += total[i] / Square(float64(d.Total))
		}
		each = append(each, x/Square(steps))
	}
	return each, nil
}
