package synth

import "math"

// This file holds the projection of noisy counts on nonnegative counts with a given sum.

// projectOnSimplex sets x to the nonnegative counts with this total ≥ 0 that are nearest to noisy counts t, and returns
// the λ for which x_i = max(0, t_i + λ). Counts and distance are weighted: Σ w_i·x_i = total, and Σ w_i·(x_i − t_i)² is
// least, for w_i > 0. guess is a λ to begin with; NaN is none.
//
// The weighted sum is convex, piecewise linear and increasing in λ. A Newton step from any λ where it increases
// therefore ends at or above the solution, and from there each step descends and leaves fewer terms positive, or has
// arrived.
func projectOnSimplex(x, t, w []float64, total, guess float64) float64 {
	top := 0
	for i := range t {
		if t[i] > t[top] {
			top = i
		}
	}
	// Take differences from the largest term, so that the total keeps its precision next to large noise.
	highest := t[top]
	lambda := guess + highest
	if !(lambda > 0) {
		lambda = total / w[top] // as if the largest term were the only positive one
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
	if sum > 0 { // removes only rounding errors
		scale := total / sum
		for i := range x {
			x[i] *= scale
		}
	}
	return lambda - highest
}
