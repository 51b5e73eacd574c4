package histogram

// This file holds the frequencies of events in independent trials, by which tests
// judge a law.

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mathext"
)

// atLeast is P(X ≥ hits) of a binomial X, a regularised incomplete beta function.
func atLeast(hits, trials int, p float64) float64 {
	switch {
	case hits <= 0:
		return 1
	case hits > trials:
		return 0
	}
	return mathext.RegIncBeta(float64(hits), float64(trials-hits+1), p)
}

// atMost is P(X ≤ hits).
func atMost(hits, trials int, p float64) float64 { return atLeast(trials-hits, trials, 1-p) }

// span is the least interval outside which X is with a probability of at most
// alarm on either side.
func span(trials int, p, alarm float64) (low, high int) {
	first := func(fits func(hits int) bool) int {
		low, high := 0, trials+1
		for low < high {
			if hits := (low + high) / 2; fits(hits) {
				high = hits
			} else {
				low = hits + 1
			}
		}
		return low
	}
	low = first(func(hits int) bool { return atMost(hits, trials, p) > alarm })
	high = first(func(hits int) bool { return atLeast(hits+1, trials, p) <= alarm })
	return low, high
}

// TestBinomialTails holds the tails against sums of their terms.
func TestBinomialTails(t *testing.T) {
	for _, trials := range []int{1, 40, 3000} {
		for _, p := range []float64{1e-3, 0.3, 0.97} {
			terms := make([]float64, trials+1)
			for x := range terms {
				n, _ := math.Lgamma(float64(trials + 1))
				a, _ := math.Lgamma(float64(x + 1))
				b, _ := math.Lgamma(float64(trials - x + 1))
				terms[x] = math.Exp(n - a - b + float64(x)*math.Log(p) + float64(trials-x)*math.Log1p(-p))
			}
			sum, step := 0.0, 1+trials/50
			for x := trials; x >= 0; x-- {
				// Three log-gammas of up to 3e4 leave a relative error of 1e-10 at the most.
				if sum += terms[x]; x%step == 0 && !(math.Abs(atLeast(x, trials, p)-sum) <= 1e-9*sum+1e-300) {
					t.Errorf("P(X ≥ %d) of %d trials of %g is %g, want %g", x, trials, p, atLeast(x, trials, p), sum)
				}
			}
			low, high := span(trials, p, 1e-6)
			if atMost(low-1, trials, p) > 1e-6 || atLeast(high+1, trials, p) > 1e-6 || low <= high &&
				(atMost(low, trials, p) <= 1e-6 || atLeast(high, trials, p) <= 1e-6) {
				t.Errorf("%d trials of %g are within %d to %d", trials, p, low, high)
			}
		}
	}
}
