package synth

import "math"

// This file holds the projection of noisy counts on counts that can be: none negative, and of a given sum.

// project sets x to the counts nearest to noisy ones t that are not negative and have this total ≥ 0, and returns the
// λ by which x_i = max(0, t_i + λ). Counts and distance are weighted: Σ w_i·x_i = total, and Σ w_i·(x_i − t_i)² is
// least, for w_i > 0. guess is a λ to begin from; NaN is none.
//
// The weighted sum is convex, piecewise linear and increasing in λ. So a Newton step from any place where it increases
// ends at or above the solution, and from there each step descends and leaves fewer terms positive, or has arrived.
func project(x, t, w []float64, total, guess float64) float64 {
	top := 0
	for i := range t {
		if t[i] > t[top] {
			top = i
		}
	}
	// Terms are taken from the largest, so that no size of the noise drowns the total.
	highest := t[top]
	lambda := guess + highest
	if !(lambda > 0) {
		lambda = total / w[top] // the largest term alone makes the total
	}
	for before := -1; ; {
		sum, slope, positive := 0.0, 0.0, 0
		for i := range t {
			if y := (t[i] - highest) + lambda; y > 0 {
				sum += float64(w[i] * y)
				slope += w[i]
				positive++
			}
		}
		if positive == before || positive == 0 {
			break
		}
		next := lambda - (sum-total)/slope
		if before >= 0 && next >= lambda || !(next > 0) {
			break
		}
		lambda, before = next, positive
	}
	sum := 0.0
	for i := range t {
		x[i] = math.Max(0, (t[i]-highest)+lambda)
		sum += float64(w[i] * x[i])
	}
	if sum > 0 { // rounding is all that it takes off
		scale := total / sum
		for i := range x {
			x[i] *= scale
		}
	}
	return lambda - highest
}
