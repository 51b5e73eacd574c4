package residual

import (
	"fmt"
	"math"
)

// This file holds the allocation: how much noise each residual gets.

// MinimiseSum returns the variances of the residuals' noise that minimise the weighted sum of the variances of all
// cells, at this cost: with v_τ what noise of variance 1 on residual τ adds to that sum and p_τ its squared
// sensitivity,
//
//	σ_τ² = √(p_τ/v_τ)·S/cost,   S = Σ √(p_τ·v_τ),
//
// and the least sum S²/cost (Xiao, He, Zhang & Kifer 2023, theorem 6; by Cauchy and Schwarz).
func (w *Workload) MinimiseSum(cost float64) []float64 {
	weights := make([]float64, len(w.Marginals))
	for i, m := range w.Marginals {
		weights[i] = float64(m.Importance * w.cells[i])
	}
	return w.leastWeighted(cost, weights, func(u use) float64 { return u.share })
}

// leastWeighted minimises Σ weight·share over marginals and their residuals.
func (w *Workload) leastWeighted(cost float64, weights []float64, share func(use) float64) []float64 {
	v := make([]float64, len(w.Residuals))
	for i, uses := range w.uses {
		for _, u := range uses {
			v[u.residual] += float64(weights[i] * share(u))
		}
	}
	var s float64
	for i, r := range w.Residuals {
		s += math.Sqrt(float64(r.Squares * v[i]))
	}
	out := make([]float64, len(v))
	for i, r := range w.Residuals {
		out[i] = math.Sqrt(r.Squares/v[i]) * s / cost
	}
	return out
}

const (
	// certified is the relative gap to which the largest variance is minimised.
	certified = 1e-4
	// maxRounds bounds the search for it.
	maxRounds = 20000
)

// MinimiseLargest returns the variances that minimise the largest, over all marginals, of the variance of a cell times
// the marginal's weight, at this cost, with that largest figure and a lower bound on it for all strategies of
// residuals.
//
// Any weights λ of the marginals, of sum 1, give a bound: the least weighted mean. Where a marginal's variance is
// above it, its weight is raised: the multiplicative form of the dual ascent. It ends when both are within 1e-4.
func (w *Workload) MinimiseLargest(cost float64) (variances []float64, largest, bound float64, err error) {
	bounds := make([]float64, len(w.Marginals))
	for i, m := range w.Marginals {
		bounds[i] = 1 / m.Importance
	}
	return w.minimiseLargest(cost, bounds)
}

// VariancesWithin returns the variances of least cost for which no cell of marginal i has a variance above bounds[i];
// +Inf sets no bound. Its cost is within 1e-4 of the least possible. Residuals that no bounded marginal has are not
// measured: their variance is +Inf.
func (w *Workload) VariancesWithin(bounds []float64) (variances []float64, cost float64, err error) {
	variances, largest, _, err := w.minimiseLargest(1, bounds)
	if err != nil {
		return nil, 0, err
	}
	// At cost 1 the largest ratio is `largest`: noise in inverse proportion to cost.
	for i := range variances {
		variances[i] /= largest
	}
	return variances, largest, nil
}

// minimiseLargest minimises the largest ratio of variance to bound.
func (w *Workload) minimiseLargest(cost float64, bounds []float64) (variances []float64, largest, bound float64,
	err error) {
	lambda := make([]float64, len(bounds))
	var bounded float64
	for i, b := range bounds {
		if !(b > 0) {
			return nil, 0, 0, fmt.Errorf("a bound on a variance must be positive")
		}
		if !math.IsInf(b, 1) {
			lambda[i] = 1
			bounded++
		}
	}
	if bounded == 0 {
		return nil, 0, 0, fmt.Errorf("no marginal has a bound")
	}
	weights := make([]float64, len(bounds))
	for i := range lambda {
		lambda[i] /= bounded
	}
	best := math.Inf(1)
	for range maxRounds {
		for i, b := range bounds {
			weights[i] = lambda[i] / b
		}
		trial := w.leastWeighted(cost, weights, func(u use) float64 { return u.peak })
		// f(λ) = S²/cost is the least Σ λ_i·(variance/bound)_i.
		var mean, most float64
		ratios := make([]float64, len(bounds))
		for i, b := range bounds {
			if lambda[i] > 0 {
				_, peak := w.Variance(i, trial)
				ratios[i] = peak / b
				mean += float64(lambda[i] * ratios[i])
				most = max(most, ratios[i])
			}
		}
		bound = max(bound, mean)
		if most < best {
			best, variances = most, trial
		}
		if best <= bound*(1+certified) {
			return variances, best, bound, nil
		}
		var sum float64
		for i := range lambda {
			lambda[i] = float64(lambda[i] * ratios[i] / mean)
			sum += lambda[i]
		}
		for i := range lambda {
			lambda[i] /= sum
		}
	}
	return nil, 0, 0, fmt.Errorf("the search for the least largest variance did not end: it is between %g and %g",
		bound,
		best)
}
