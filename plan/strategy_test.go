package plan

import (
	"math"
	"testing"
)

// adult14 are the sizes of the attributes of the Adult extract.
var adult14 = []int{85, 9, 100, 16, 7, 15, 6, 5, 2, 100, 100, 99, 42, 2}

// optimalWays are the variances of a cell of every one-way and two-way marginal by the best noise on the residuals
// (Xiao, He, Zhang & Kifer 2023), whose Σ p/σ² is the cost: a residual of attributes τ has p = Π(1−1/n) and in a cell of
// a marginal the weight p·Π 1/n² over the attributes that it has not.
func optimalWays(sizes []int, cost float64) (one []float64, two [][]float64) {
	d := len(sizes)
	n, p := make([]float64, d), make([]float64, d)
	for i, size := range sizes {
		n[i], p[i] = float64(size), 1-1/float64(size)
	}
	var total float64 // Σ cells·weight of each residual
	each := make([]float64, d)
	for i := range n {
		total += 1 / n[i]
		each[i] += n[i] * p[i]
		for j := range n {
			if j == i {
				continue
			}
			each[i] += n[i] * p[i] / n[j]
			if j > i {
				total += 1 / (n[i] * n[j])
			}
		}
	}
	s := math.Sqrt(total)
	for i := range n {
		s += math.Sqrt(p[i] * each[i])
		for j := i + 1; j < d; j++ {
			s += p[i] * p[j] * math.Sqrt(n[i]*n[j])
		}
	}
	of := func(p, v float64) float64 { return math.Sqrt(p/v) * s / cost }
	one, two = make([]float64, d), make([][]float64, d)
	for i := range n {
		one[i] = of(1, total)/(n[i]*n[i]) + p[i]*of(p[i], each[i])
		two[i] = make([]float64, d)
		for j := range n {
			pair := p[i] * p[j]
			two[i][j] = of(1, total)/(n[i]*n[i]*n[j]*n[j]) + p[i]*of(p[i], each[i])/(n[j]*n[j]) + p[j]*of(p[j], each[j])/(n[i]*n[i]) +
				pair*of(pair, n[i]*n[j]*pair)
		}
	}
	return one, two
}

// assertStandardError allows for a scale that is rounded to a multiple of 2⁻¹² and a budget that is met to seven digits.
func assertStandardError(t *testing.T, table Table, variance float64) {
	t.Helper()
	if got, want := table.Statistics[0].StandardError, math.Sqrt(variance); math.Abs(got/want-1) > 1e-5 {
		t.Errorf("%s: standard error %.6f, expected %.6f", table.Path, got, want)
	}
}
