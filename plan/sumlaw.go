package plan

import (
	"math"

	"github.com/dprelease/dprelease/budget"
)

// This file holds the law of a sum of noise: what a cell has that is a sum of measured ones.

// sumMargin is the least whole m with P(|S| ≤ m) at least the confidence, and that probability, for the sum S of so many
// independent draws of discrete Laplace noise.
//
// S is symmetric on the integers with the characteristic function φ(t)^n, φ(t) = (1−a)²/(1−2a·cos t+a²), a = e^{−1/scale}, so
//
//	P(|S| ≤ m) = (1/π)·∫₀^π φ(t)^n·sin((m+½)t)/sin(t/2) dt,
//
// here by the trapezoid rule of step 2π/L, L an even number, which differs from it by what S has beyond L−m: less than
// 1e-12. The integral ends where φ^n is below 1e-16.
func sumMargin(m budget.Mechanism, n int64, confidence float64) (margin int64, attained float64) {
	if n == 1 {
		return m.Margin(confidence)
	}
	scale, _ := m.Parameter.Float64()
	deviation := math.Sqrt(float64(n) * m.Variance())
	law := sumLaw{a: budget.Exp(-1 / scale), rest: -math.Expm1(-1 / scale), n: float64(n), length: 2 * math.Ceil(float64(12*deviation)+float64(40*scale)+16)}
	low, high := int64(-1), int64(math.Ceil(8*deviation))+1 // P(|S| ≤ high) is above 0.98 (Chebyshev)
	for high-low > 1 {
		if middle := low + (high-low)/2; law.within(middle) >= confidence {
			high = middle
		} else {
			low = middle
		}
	}
	return high, law.within(high)
}

// sumLaw is the law of a sum of n draws, with the length L of its integral; rest is 1−a.
type sumLaw struct{ a, rest, n, length float64 }

// within is P(|S| ≤ m).
func (s sumLaw) within(m int64) float64 {
	h := 2 * math.Pi / s.length
	half := float64(m) + 0.5
	sum := half // at t = 0, half of 2m+1
	for i := 1.0; i <= s.length/2; i++ {
		t := i * h
		sin := math.Sin(t / 2)
		// φ = 1/(1 + 4a·sin²(t/2)/(1−a)²)
		size := math.Exp(-s.n * math.Log1p(4*s.a*sin*sin/(s.rest*s.rest)))
		if size < 1e-16 {
			break
		}
		if i == s.length/2 {
			size /= 2
		}
		sum += size * math.Sin(half*t) / sin
	}
	return sum * h / math.Pi
}
