package synth

import (
	"math"

	"github.com/dprelease/dprelease/plan/describe"
)

// This file holds a column: what is known of how many rows each of its categories has.

// evidence is a noisy estimate of a column's counts: unbiased, with independent noise of one variance.
type evidence struct {
	counts   []float64
	variance float64
}

// combined is the weighted mean of evidence, by inverse variance, which has the least variance; its total is left
// out of that and set to the one given, as totals are estimated from all columns together.
//
// With noise of one variance in all cells of a table, its total, the effect of either column and what these leave are
// independent. So for measurements of columns, and of pairs of columns without a cycle, this is what least squares on
// all of them together would say of the column beside its total, and not only the best mean of the given evidence.
func combined(all []evidence, total float64) evidence {
	n := len(all[0].counts)
	out := evidence{counts: make([]float64, n)}
	weights := 0.0
	for _, e := range all {
		weights += 1 / e.variance
	}
	out.variance = 1 / weights
	for _, e := range all {
		weight := (1 / e.variance) / weights
		level := (sum(e.counts) - total) / float64(n)
		for i, c := range e.counts {
			out.counts[i] += float64(weight * (c - level))
		}
	}
	return out
}

// classes puts categories together that the noise hides: a category whose estimate is well above the noise is a
// class of its own, and all the others are one.
type classes struct {
	of    []int     // category → class
	size  []float64 // class → number of its categories
	share []float64 // category → its part of the class
}

// classesOf sorts the categories by their estimates. Within the class of the hidden ones each has a part that goes with
// its estimate, where that is positive, and half a standard deviation for what the noise may have taken from it.
func classesOf(e evidence) classes {
	c := classes{of: make([]int, len(e.counts)), share: make([]float64, len(e.counts))}
	deviation := math.Sqrt(e.variance)
	hidden := -1
	for i, count := range e.counts {
		class := len(c.size)
		if count < describe.VisibleDeviations*deviation {
			if hidden < 0 {
				hidden = class
			}
			class = hidden
		}
		if class == len(c.size) {
			c.size = append(c.size, 0)
		}
		c.of[i] = class
		c.size[class]++
		c.share[i] = max(count, 0) + float64(deviation/2)
	}
	parts := make([]float64, len(c.size))
	for i, class := range c.of {
		parts[class] += c.share[i]
	}
	for i, class := range c.of {
		c.share[i] /= parts[class]
	}
	return c
}

// merged are the classes of codes.
func (c classes) merged(codes []uint32) []uint32 {
	out := make([]uint32, len(codes))
	for row, code := range codes {
		out[row] = uint32(c.of[code])
	}
	return out
}

// means are the mean counts of a category in each class.
func (c classes) means(counts []float64) []float64 {
	m := make([]float64, len(c.size))
	for i, count := range counts {
		m[c.of[i]] += count / c.size[c.of[i]]
	}
	return m
}

// fitted are the counts of the classes, none negative and with this total, that are nearest to the evidence.
func (c classes) fitted(e evidence, total float64) []float64 {
	counts := make([]float64, len(c.size))
	project(counts, c.means(e.counts), c.size, total, math.NaN())
	for i := range counts {
		counts[i] *= c.size[i]
	}
	return counts
}

// spread is the counts of categories, from those of classes.
func (c classes) spread(counts []float64) []float64 {
	out := make([]float64, len(c.of))
	for i, class := range c.of {
		out[i] = counts[class] * c.share[i]
	}
	return out
}

// sum is Σ x, in order.
func sum(x []float64) float64 {
	s := 0.0
	for _, v := range x {
		s += v
	}
	return s
}

// product is Π n: of the sizes of the last axes of a table, how far apart neighbours along the axis before lie.
func product(sizes []int) int {
	out := 1
	for _, n := range sizes {
		out *= n
	}
	return out
}

// pool is a mean by inverse variance.
type pool struct{ mean, precision float64 }

func (p *pool) add(x, variance float64) {
	p.precision += 1 / variance
	p.mean += (x - p.mean) / float64(p.precision*variance)
}
