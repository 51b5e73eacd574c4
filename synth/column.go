package synth

import (
	"math"

	"github.com/dprelease/dprelease/plan/describe"
)

// This file holds what is known of one column: the number of rows in each of its categories.

// evidence is a noisy estimate of a column's counts: unbiased, with independent noise of equal variance.
type evidence struct {
	counts   []float64
	variance float64
}

// pooledEvidence returns the mean of evidence weighted by inverse variance, which has the least variance. The totals of
// the evidence are replaced by the given one, since totals are estimated from all columns together.
//
// With noise of one variance in all cells of a table, its total, the effect of either column and the interaction are
// independent. For measurements of columns, and of pairs of columns without a cycle, this mean is therefore what least
// squares on all of them together would give for the column, apart from its total, and not only the best mean of the
// given evidence.
func pooledEvidence(all []evidence, total float64) evidence {
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

// classes merges the categories that the noise hides: a category whose estimate is well above the noise is a class of
// its own, and all the others form one class.
type classes struct {
	of    []int     // by category: its class
	size  []float64 // by class: the number of its categories
	share []float64 // by category: its share of the class
}

// classesOf classifies the categories by their estimates. In the class of hidden categories, the share of a category is
// proportional to its estimate, if that is positive, plus half a standard deviation for what the noise may have taken
// from it.
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

// classCodes returns the classes of codes.
func (c classes) classCodes(codes []uint32) []uint32 {
	out := make([]uint32, len(codes))
	for row, code := range codes {
		out[row] = uint32(c.of[code])
	}
	return out
}

// classMeans returns the mean count of a category in each class.
func (c classes) classMeans(counts []float64) []float64 {
	m := make([]float64, len(c.size))
	for i, count := range counts {
		m[c.of[i]] += count / c.size[c.of[i]]
	}
	return m
}

// fittedCounts returns the counts of the classes that are nearest to the evidence, nonnegative and with this total.
func (c classes) fittedCounts(e evidence, total float64) []float64 {
	counts := make([]float64, len(c.size))
	projectOnSimplex(counts, c.classMeans(e.counts), c.size, total, math.NaN())
	for i := range counts {
		counts[i] *= c.size[i]
	}
	return counts
}

// categoryCounts distributes counts of classes over their categories.
func (c classes) categoryCounts(counts []float64) []float64 {
	out := make([]float64, len(c.of))
	for i, class := range c.of {
		out[i] = counts[class] * c.share[i]
	}
	return out
}

// sum returns Σ x, added in order.
func sum(x []float64) float64 {
	s := 0.0
	for _, v := range x {
		s += v
	}
	return s
}

// product returns Π n. For the sizes of the last axes of a table it is the stride of the axis before them.
func product(sizes []int) int {
	out := 1
	for _, n := range sizes {
		out *= n
	}
	return out
}

// pool is a mean weighted by inverse variance.
type pool struct{ mean, precision float64 }

func (p *pool) add(x, variance float64) {
	p.precision += 1 / variance
	p.mean += (x - p.mean) / float64(p.precision*variance)
}
