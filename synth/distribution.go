package synth

import (
	"math"

	"github.com/dprelease/dprelease/budget"
)

// This file holds quantiles that are read off noisy distribution functions.

// Distribution is the law of quantiles of groups whose rows are counted by consecutive cells of a column: F_j is how
// many rows are in the cells up to j, with noise. It is not for concurrent use.
//
// A quantile of a share q is any y with at most q·N rows below it and at least as many up to it, where N is F of the
// last. So for the cell i of one F_i ≥ qN ≥ F_{i−1}. The noise of F_j − qN has a known symmetric law. With m_j a margin
// of it, the interval is of the cells from the first with F_j − qN ≥ −m_j to the last with F_{j−1} − qN ≤ m_{j−1}. With
// i the cell of the least quantile and k that of the greatest, it leaves one out only where the noise of F_i − qN is
// below −m_i or that of F_{k−1} − qN is above m_{k−1}: each with half of what the confidence leaves
// (docs/proofs/distribution.md).
type Distribution struct {
	cells      []Cell
	share      float64
	noise      func(cell int) Noise
	confidence float64
	margins    []float64 // of F_{j−1} − qN at j, once they are asked for
	deviations []float64
	bounds     []float64 // of margins
}

// Cell is a cell of a column: the least and the largest value in it, or its ends.
type Cell struct{ Low, High float64 }

// NewDistribution is the law of the quantile of a share at a confidence. Noise is that of F_j − share·N, of −share·N
// for j = −1.
func NewDistribution(cells []Cell, share float64, noise func(cell int) Noise, confidence float64) *Distribution {
	d := &Distribution{cells: cells, share: share, noise: noise, confidence: confidence}
	d.margins, d.deviations, d.bounds = make([]float64, len(cells)+1), make([]float64, len(cells)+1),
		make([]float64, len(cells)+1)
	for i := range d.margins {
		d.margins[i] = null
		moments := budget.MomentsOf(noise(i - 1))
		d.deviations[i], d.bounds[i] = moments.Deviation, moments.Bound(confidence)
	}
	return d
}

// PrefixNoise is the noise of F_j − share·N for counts of so many cells, each of the same noise.
func PrefixNoise(count Noise, cells int, share float64) func(cell int) Noise {
	return func(cell int) Noise {
		within, beyond := count.times(1-share), count.times(-share)
		for i := range within {
			within[i].Count *= int64(cell + 1)
			beyond[i].Count *= int64(cells - 1 - cell)
		}
		return append(within, beyond...)
	}
}

// margin is one of F_j − qN.
func (d *Distribution) margin(cell int) float64 {
	m := &d.margins[cell+1]
	if *m != *m {
		*m = d.noise(cell).Margin(d.confidence)
	}
	return *m
}

// exceeds reports whether −x, or x, is beyond the margin of F_j − qN, which is worked out only where its bound does not
// tell.
func (d *Distribution) exceeds(x float64, cell int) bool {
	if !(x > 0) {
		return false
	}
	slack := float64(roundoff * (x + d.deviations[cell+1]))
	return x > d.bounds[cell+1]+slack || x > d.margin(cell)+slack
}

// Of is the quantile of one group, from its noisy F, cell by cell, and the non-decreasing F that is nearest to it
// ([NonDecreasing]). The estimate is that of the latter, in proportion within its cell. It has no standard error: how
// far it is off depends on how many rows lie where. A group whose noisy count is not positive, or of which no cell is
// left out, is [Unbounded].
func (d *Distribution) Of(noisy, rising []float64) Figure {
	last := len(noisy) - 1
	count := noisy[last]
	if !(count > 0) {
		return unpublished(Unbounded)
	}
	target := float64(d.share * count)
	low, high := last, 0
	for j := range noisy {
		if !d.exceeds(target-noisy[j], j) {
			low = j
			break
		}
	}
	for j := last; j > 0; j-- {
		if !d.exceeds(noisy[j-1]-target, j-1) {
			high = j
			break
		}
	}
	low, high = min(low, high), max(low, high)
	estimate := d.invert(rising, target)
	if low == 0 && high == last {
		return unpublished(Unbounded)
	}
	return bounded(estimate, null, d.cells[low].Low, d.cells[high].High)
}

// invert is where a non-decreasing function reaches a target.
func (d *Distribution) invert(rising []float64, target float64) float64 {
	cell := 0
	before := 0.0
	for cell < len(rising)-1 && rising[cell] < target {
		before = rising[cell]
		cell++
	}
	c := d.cells[cell]
	if !(rising[cell] > before) {
		return c.High
	}
	part := math.Max(0, math.Min(1, (target-before)/(rising[cell]-before)))
	return c.Low + float64(part*(c.High-c.Low))
}

// NonDecreasing is the non-decreasing sequence with the least squares of differences from x: means of pooled neighbours
// (Ayer, Brunk, Ewing, Reid & Silverman 1955).
func NonDecreasing(x []float64) []float64 {
	type pool struct{ sum, size float64 }
	var pools []pool
	for _, v := range x {
		next := pool{v, 1}
		for n := len(pools); n > 0 && float64(pools[n-1].sum*next.size) >= float64(next.sum*pools[n-1].size); n-- {
			next.sum += pools[n-1].sum
			next.size += pools[n-1].size
			pools = pools[:n-1]
		}
		pools = append(pools, next)
	}
	out := make([]float64, 0, len(x))
	for _, p := range pools {
		for range int(p.size) {
			out = append(out, p.sum/p.size)
		}
	}
	return out
}
