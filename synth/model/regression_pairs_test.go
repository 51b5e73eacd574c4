package model

import (
	"fmt"
	"math"

	"github.com/dprelease/dprelease/plan/design"
)

// RegressionPair is a released table of two columns of a design, First < Second: the noisy counts of their pairs of
// codes, row-major, each with independent noise of mean 0 and this variance.
type RegressionPair struct {
	First, Second int
	Counts        []float64
	Variance      float64
}

// RegressionMomentsFromPairs returns the moments of a design from tables of its columns, as another way to the same
// moments: sums of noisy counts times the public values of the codes. Every two columns need a table.
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
	return m.design.First(column+1) + e.Offset[code], float64(e.Value[code]) / m.unit(column+1)
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
