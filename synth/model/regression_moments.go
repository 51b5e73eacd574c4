package model

// This file holds the noisy moments of a regression, with what each independent noise adds to which of them.

import (
	"errors"
	"fmt"
	"math"

	"github.com/dprelease/dprelease/plan/design"
)

// RegressionMoments are the noisy moments of a design: an estimate of the symmetric matrix Σ z·zᵀ over all rows, in
// units in which the features of [design.Design] are between −1 and 1, and the law of its noise. It is a sum of
// independent noises of mean 0, each times a known sparse matrix.
//
// The matrix and its noise are used between centred vectors only: those of which the entries of each column of three
// categories or more add up to 0. The intercept, numbers, contrasts and the differences between categories are such
// vectors, and so every regression is one.
type RegressionMoments struct {
	design *design.Design
	matrix *symmetricMatrix // of all features, the intercept first and the target last
	noises []momentNoise
}

// momentNoise is an independent noise of mean 0 and a variance, times a symmetric matrix given by its upper triangle.
type momentNoise struct {
	variance float64
	pattern  []matrixEntry
}

// matrixEntry is an entry (i, j) of a symmetric matrix, i ≤ j, and so of (j, i).
type matrixEntry struct {
	i, j  int
	value float64
}

// times returns what the pattern, times a vector, has in the features but the target, the last: pairs of a feature and
// a value, in to. A feature may be there twice.
func (n momentNoise) times(x []float64, to []matrixEntry) []matrixEntry {
	to = to[:0]
	target := len(x) - 1
	for _, e := range n.pattern {
		if e.i != target && x[e.j] != 0 {
			to = append(to, matrixEntry{i: e.i, value: float64(e.value * x[e.j])})
		}
		if e.i != e.j && e.j != target && x[e.i] != 0 {
			to = append(to, matrixEntry{i: e.j, value: float64(e.value * x[e.i])})
		}
	}
	return to
}

// form returns x'·T·x for the pattern T.
func (n momentNoise) form(x []float64) float64 {
	sum := 0.0
	for _, e := range n.pattern {
		v := float64(float64(e.value*x[e.i]) * x[e.j])
		if e.i != e.j {
			v *= 2
		}
		sum += v
	}
	return sum
}

// formVariance returns the variance of x'·E·x for the noise E of the moments.
func (m *RegressionMoments) formVariance(x []float64) float64 {
	sum := 0.0
	for _, n := range m.noises {
		f := n.form(x)
		sum += float64(n.variance * float64(f*f))
	}
	return sum
}

// NewRegressionMoments returns the moments of a design from noisy integers in its layout: those on the diagonal and
// those off it, each with independent noise of mean 0 and the given variance of the integers.
//
// It reports an error if the lengths are not those of the design or a variance is not a number at least 0.
func NewRegressionMoments(d *design.Design, diagonal, offDiagonal []int64, diagonalVariance,
	offDiagonalVariance float64) (*RegressionMoments, error) {
	on, off := d.Lengths()
	switch {
	case len(diagonal) != on || len(offDiagonal) != off:
		return nil, fmt.Errorf("a regression with %d and %d moments was given %d and %d", on, off, len(diagonal),
			len(offDiagonal))
	case !isVariance(diagonalVariance) || !isVariance(offDiagonalVariance):
		return nil, errors.New("the variance of noise is not a number at least 0")
	}
	c := &combination{RegressionMoments: newMoments(d), offDiagonal: offDiagonal, noise: offDiagonalVariance}
	const unit = design.Scale * design.Scale
	c.combineRows(float64(diagonal[0])/unit, diagonalVariance/(unit*unit))
	for k, e := range d.Squares()[1:] {
		unit := float64(d.Encodings()[e].SquareUnit)
		c.add(float64(diagonal[k+1])/unit, diagonalVariance/float64(unit*unit),
			[]matrixEntry{{d.First(e), d.First(e), 1}})
	}
	for e := 1; e < len(d.Encodings()); e++ {
		if d.Encodings()[e].Width > 1 {
			c.combineCounts(e)
		} else {
			c.combineMean(e)
		}
		for b := e + 1; b < len(d.Encodings()); b++ {
			width := d.Encodings()[b].Width
			for k, x := range c.block(e, b) {
				c.add(x, c.variance(e, b), []matrixEntry{{d.First(e) + k/width, d.First(b) + k%width, 1}})
			}
		}
	}
	return c.RegressionMoments, nil
}

// combination combines noisy moments that say the same. The indicators of a column add up to the intercept, so that
// each block of a column of K ≥ 3 categories holds the moments of the intercept again, as sums of K. The best linear
// unbiased estimates of all moments are in closed form: between centred vectors a block of two columns only has what no
// other moment says; the counts of a column are the number of rows over K and deviations from that, which every block
// with another column of categories says again; and the product of a number or contrast with the intercept is said
// again by every block of it with such a column. Each is the mean of what says it, weighted by inverse variances.
//
// Source: Gauss-Markov theorem; the parts are those of an analysis of variance, as in Xiao, He, Zhang & Kifer 2023
// (ResidualPlanner).
type combination struct {
	*RegressionMoments
	offDiagonal []int64
	noise       float64 // variance of integers off the diagonal
}

// unit returns the integer that stands for 1 in an encoding.
func (m *RegressionMoments) unit(encoding int) float64 {
	return float64(m.design.Encodings()[encoding].Unit)
}

// variance returns the variance of the moments of encodings a and b.
func (c *combination) variance(a, b int) float64 {
	unit := float64(c.unit(a) * c.unit(b))
	return c.noise / float64(unit*unit)
}

// block returns the noisy moments of encodings a < b.
func (c *combination) block(a, b int) []float64 {
	e := c.design.Encodings()
	from, unit := c.design.Block(a, b), float64(c.unit(a)*c.unit(b))
	out := make([]float64, e[a].Width*e[b].Width)
	for i := range out {
		out[i] = float64(c.offDiagonal[from+i]) / unit
	}
	return out
}

// sumsWith returns, for each feature of encoding a, its moments with encoding b added up over the features of b.
func (c *combination) sumsWith(a, b int) []float64 {
	e := c.design.Encodings()
	out := make([]float64, e[a].Width)
	for k, x := range c.block(min(a, b), max(a, b)) {
		if a < b {
			out[k/e[b].Width] += x
		} else {
			out[k%e[a].Width] += x
		}
	}
	return out
}

// indicators returns the encodings of columns of three categories or more, without one of them.
func (c *combination) indicators(without int) (all []int) {
	for e, x := range c.design.Encodings() {
		if x.Width > 1 && e != without {
			all = append(all, e)
		}
	}
	return all
}

// combineRows adds the number of rows: a noisy one with this variance, and the sums of all blocks of indicators.
func (c *combination) combineRows(rows, variance float64) {
	noise := c.variance(0, 0)
	least := 1e-9 * max(variance, noise) // so that two without noise weigh the same
	if least == 0 {
		least = 1
	}
	var mean weightedMean
	mean.add(rows, variance, least)
	all := c.indicators(0)
	for i, a := range all {
		mean.add(total(c.block(0, a)), float64(len(c.block(0, a)))*noise, least)
		for _, b := range all[i+1:] {
			mean.add(total(c.block(a, b)), float64(len(c.block(a, b)))*noise, least)
		}
	}
	value, variance := mean.result()
	pattern := c.countPattern(1)
	for _, a := range all {
		for k := range c.design.Encodings()[a].Width {
			j := c.design.First(a) + k
			pattern = append(pattern, matrixEntry{j, j, 1 / float64(c.design.Encodings()[a].Width)})
		}
	}
	c.add(value, variance, pattern)
}

// combineCounts adds how the counts of a column of indicators deviate from their mean.
func (c *combination) combineCounts(a int) {
	width, first := c.design.Encodings()[a].Width, c.design.First(a)
	counts, weight := c.block(0, a), 1.0
	for _, b := range c.indicators(a) {
		w := 1 / float64(c.design.Encodings()[b].Width)
		for k, x := range c.sumsWith(a, b) {
			counts[k] += float64(w * x)
		}
		weight += w
	}
	for k, x := range counts {
		pattern := []matrixEntry{{0, first + k, 1}}
		for other := range width {
			v := -1 / float64(width)
			if other == k {
				v++
			}
			pattern = append(pattern, matrixEntry{first + other, first + other, v})
		}
		c.add(x/weight, c.variance(0, a)/weight, pattern)
	}
}

// combineMean adds the product of a number or contrast with the intercept.
func (c *combination) combineMean(a int) {
	sum, weight := c.block(0, a)[0], 1.0
	for _, b := range c.indicators(0) {
		w := 1 / float64(c.design.Encodings()[b].Width)
		sum += float64(w * c.sumsWith(a, b)[0])
		weight += w
	}
	c.add(sum/weight, c.variance(0, a)/weight, []matrixEntry{{0, c.design.First(a), 1}})
}

// weightedMean is a mean weighted by inverse variances, with the variance that it has.
type weightedMean struct{ sum, weight, variance float64 }

// add adds a value of a variance; no value weighs more than one of the least variance.
func (m *weightedMean) add(value, variance, least float64) {
	w := 1 / max(variance, least)
	m.sum += float64(w * value)
	m.weight += w
	m.variance += float64(float64(w*w) * variance)
}

// result returns the mean and its variance.
func (m *weightedMean) result() (mean, variance float64) {
	return m.sum / m.weight, m.variance / float64(m.weight*m.weight)
}

// total returns the sum.
func total(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum
}

// isVariance reports whether v is finite and at least 0.
func isVariance(v float64) bool { return v >= 0 && !math.IsInf(v, 1) }

// newMoments returns moments that are 0, without noise.
func newMoments(d *design.Design) *RegressionMoments {
	return &RegressionMoments{design: d, matrix: newSymmetric(d.Features())}
}

// countPattern returns the pattern of the number of rows: the square of the intercept and of all contrasts.
func (m *RegressionMoments) countPattern(weight float64) []matrixEntry {
	p := []matrixEntry{{0, 0, weight}}
	for e := 1; e < len(m.design.Encodings()); e++ {
		if m.isContrast(e) {
			p = append(p, matrixEntry{m.design.First(e), m.design.First(e), weight})
		}
	}
	return p
}

// isContrast reports whether an encoding is the contrast of a column.
func (m *RegressionMoments) isContrast(encoding int) bool {
	return encoding > 0 && m.design.Encodings()[encoding].Width == 1 && !m.design.Columns()[encoding-1].IsNumber()
}

// add adds a noisy value, times its pattern.
func (m *RegressionMoments) add(value, variance float64, pattern []matrixEntry) {
	for _, e := range pattern {
		m.matrix.add(e.i, e.j, float64(value*e.value))
	}
	if variance > 0 {
		m.noises = append(m.noises, momentNoise{variance, pattern})
	}
}
