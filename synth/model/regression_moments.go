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

// timesOn returns what the pattern, times a vector, has in the features that on reports: pairs of a feature and a
// value. A feature may be there twice.
func (n momentNoise) timesOn(x []float64, on []bool, to []matrixEntry) []matrixEntry {
	to = to[:0]
	for _, e := range n.pattern {
		if on[e.i] && x[e.j] != 0 {
			to = append(to, matrixEntry{i: e.i, value: float64(e.value * x[e.j])})
		}
		if e.i != e.j && on[e.j] && x[e.i] != 0 {
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
	m := newMoments(d)
	const unit = design.Scale * design.Scale
	for k, e := range d.Squares() {
		p := []matrixEntry{{d.First(e), d.First(e), 1}}
		if e == 0 {
			p = m.countPattern(1)
		}
		m.add(float64(diagonal[k])/unit, diagonalVariance/(unit*unit), p)
	}
	for a, x := range d.Encodings() {
		for b := a + 1; b < len(d.Encodings()); b++ {
			width := d.Encodings()[b].Width
			for k := range x.Width * width {
				i, j := d.First(a)+k/width, d.First(b)+k%width
				p := []matrixEntry{{i, j, 1}}
				if a == 0 && width > 1 {
					p = append(p, matrixEntry{j, j, 1})
				}
				m.add(float64(offDiagonal[d.Block(a, b)+k])/unit, offDiagonalVariance/(unit*unit), p)
			}
		}
	}
	return m, nil
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

// RegressionPair is a released table of two columns of a design, First < Second: the noisy counts of their pairs of
// codes, row-major, each with independent noise of mean 0 and this variance.
type RegressionPair struct {
	First, Second int
	Counts        []float64
	Variance      float64
}

// RegressionMomentsFromPairs returns the moments of a design from tables of its columns that are released anyway, and
// so at no further cost: sums of noisy counts times the public values of the codes. Every two columns need a table.
// Counts of one column and the number of rows are means over all tables, weighted by the inverse variances of their
// sums.
//
// Source: Ferrando & Sheldon 2025 (arXiv 2405.15002), who regress on marginals of synthetic data.
//
// It reports an error if a table is missing, is there twice, or has the wrong number of counts or no finite ones, or
// a variance that is not positive.
func RegressionMomentsFromPairs(d *design.Design, pairs []RegressionPair) (*RegressionMoments, error) {
	sizes := d.Sizes()
	if err := checkPairs(sizes, pairs); err != nil {
		return nil, err
	}
	precision, total := make([]float64, len(sizes)), 0.0 // of counts of a column, and of the number of rows
	for _, p := range pairs {
		a, b := float64(sizes[p.First]), float64(sizes[p.Second])
		precision[p.First] += 1 / (b * p.Variance)
		precision[p.Second] += 1 / (a * p.Variance)
		total += 1 / (a * b * p.Variance)
	}
	m := newMoments(d)
	for _, p := range pairs {
		a, b := float64(sizes[p.First]), float64(sizes[p.Second])
		first, second := 1/(b*p.Variance)/precision[p.First], 1/(a*p.Variance)/precision[p.Second]
		rows := 1 / (a * b * p.Variance) / total
		for k, n := range p.Counts {
			i, j := k/sizes[p.Second], k%sizes[p.Second]
			x, u := m.value(p.First, i)
			y, v := m.value(p.Second, j)
			pattern := append(m.countPattern(rows), matrixEntry{x, y, float64(u * v)})
			pattern = append(pattern, m.columnPattern(p.First, x, u, first)...)
			m.add(n, p.Variance, append(pattern, m.columnPattern(p.Second, y, v, second)...))
		}
	}
	return m, nil
}

// checkPairs reports what is wrong with tables of columns of these sizes.
func checkPairs(sizes []int, pairs []RegressionPair) error {
	seen := map[[2]int]bool{}
	for _, p := range pairs {
		if p.First < 0 || p.First >= p.Second || p.Second >= len(sizes) || seen[[2]int{p.First, p.Second}] {
			return fmt.Errorf("columns %d and %d have no table of their own in the regression", p.First, p.Second)
		}
		seen[[2]int{p.First, p.Second}] = true
		if len(p.Counts) != sizes[p.First]*sizes[p.Second] || !isVariance(p.Variance) || p.Variance == 0 {
			return fmt.Errorf("the table of columns %d and %d has the wrong shape or variance", p.First, p.Second)
		}
		for _, n := range p.Counts {
			if math.IsNaN(n) || math.IsInf(n, 0) {
				return fmt.Errorf("the table of columns %d and %d has a count that is no number", p.First, p.Second)
			}
		}
	}
	if want := len(sizes) * (len(sizes) - 1) / 2; len(pairs) != want {
		return fmt.Errorf("a regression on %d columns needs the tables of all %d pairs and was given %d", len(sizes),
			want, len(pairs))
	}
	return nil
}

// value returns the feature that a code of a column has, and its value between −1 and 1.
func (m *RegressionMoments) value(column, code int) (feature int, value float64) {
	e := m.design.Encodings()[column+1]
	return m.design.First(column+1) + e.Offset[code], float64(e.Value[code]) / design.Scale
}

// columnPattern returns the pattern of the moments of a column itself: its product with the intercept, and its square
// unless that is the number of rows.
func (m *RegressionMoments) columnPattern(column, feature int, value, weight float64) []matrixEntry {
	p := []matrixEntry{{0, feature, float64(weight * value)}}
	if !m.isContrast(column + 1) {
		p = append(p, matrixEntry{feature, feature, float64(weight * float64(value*value))})
	}
	return p
}
