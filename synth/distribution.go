package synth

import (
	"math"

	"github.com/dprelease/dprelease/budget"
)

// This file holds quantiles that are read from noisy distribution functions.

// Distribution is the law of quantiles of groups whose rows are counted by consecutive cells of a column: F_j is the
// noisy number of rows in the cells up to j. It is not safe for concurrent use.
//
// A quantile of a share q is any y with at most q·N rows below it and at least as many up to it, where N is the last F.
// The cell i of a quantile therefore has F_i ≥ qN ≥ F_{i−1}. The noise of F_j − qN has a known symmetric law; let m_j
// be a margin of it. The interval consists of the cells from the first with F_j − qN ≥ −m_j to the last with F_{j−1} −
// qN ≤ m_{j−1}. With i the cell of the least quantile and k that of the greatest, it leaves one out only if the noise
// of F_i − qN is below −m_i or that of F_{k−1} − qN is above m_{k−1}: each with half of one minus the confidence
// (docs/proofs/distribution.md).
type Distribution struct {
	cells      []Cell
	share      float64
	noise      func(cell int) Noise
	confidence float64
	margins    []float64 // of F_{j−1} − qN at j, computed on demand
	deviations []float64
	bounds     []float64 // upper bounds of margins
}

// Cell is a cell of a column: the least and the largest value in it, or its ends.
type Cell struct{ Low, High float64 }

// NewDistribution returns the law of the quantile of a share at a confidence. noise(j) is the noise of F_j − share·N,
// and of −share·N for j = −1.
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

// PrefixLessShareNoise returns, for each cell j, the noise of F_j − share·N, where the prefix sum F_j is the count of
// the cells up to j and N that of all cells. The noisy counts of the cells are independent, and all have the same
// noise.
func PrefixLessShareNoise(count Noise, cells int, share float64) func(cell int) Noise {
	return func(cell int) Noise {
		within, beyond := count.scaledBy(1-share), count.scaledBy(-share)
		for i := range within {
			within[i].Count *= float64(cell + 1)
			beyond[i].Count *= float64(cells - 1 - cell)
		}
		return append(within, beyond...)
	}
}

// margin returns the margin of F_j − qN.
func (d *Distribution) margin(cell int) float64 {
	m := &d.margins[cell+1]
	if *m != *m {
		*m = d.noise(cell).Margin(d.confidence)
	}
	return *m
}

// exceedsMargin reports whether x is beyond the margin of F_j − qN, which is computed only if its bound does not
// decide.
func (d *Distribution) exceedsMargin(x float64, cell int) bool {
	if !(x > 0) {
		return false
	}
	slack := float64(roundoff * (x + d.deviations[cell+1]))
	return x > d.bounds[cell+1]+slack || x > d.margin(cell)+slack
}

// QuantileFigure returns the quantile of one group, from its noisy F, cell by cell, and the nearest non-decreasing F
// ([NonDecreasing]). The estimate is read from the latter, by linear interpolation within its cell. It has no standard
// error: its error depends on how many rows lie where. A group is [Unbounded] if its noisy count is not positive, or if
// its interval leaves out no cell.
func (d *Distribution) QuantileFigure(noisy, rising []float64) Figure {
	last := len(noisy) - 1
	count := noisy[last]
	if !(count > 0) {
		return unpublishedFigure(Unbounded)
	}
	target := float64(d.share * count)
	low, high := last, 0
	for j := range noisy {
		if !d.exceedsMargin(target-noisy[j], j) {
			low = j
			break
		}
	}
	for j := last; j > 0; j-- {
		if !d.exceedsMargin(noisy[j-1]-target, j-1) {
			high = j
			break
		}
	}
	low, high = min(low, high), max(low, high)
	estimate := d.invert(rising, target)
	if low == 0 && high == last {
		return unpublishedFigure(Unbounded)
	}
	return boundedFigure(estimate, null, d.cells[low].Low, d.cells[high].High)
}

// invert returns where a non-decreasing function reaches a target.
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

// NonDecreasing returns the non-decreasing sequence with the least sum of squared differences from x: means of pooled
// neighbours (Ayer, Brunk, Ewing, Reid & Silverman 1955).
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
