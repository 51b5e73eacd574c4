package release

import (
	"math"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/synth"
)

// This file holds the law of a sum of noise: how far from the exact value a sum of weighted noisy integers lies.

// The interval of a sum of noisy integers, and how sure it is, follow from the characteristic function of its noise,
//
//	φ(θ) = Π φ_i(w_i·θ)^n_i,
//
// with φ_i(t) = 1/(1 + 4a·sin²(t/2)/(1−a)²), a = e^{−1/scale}, for discrete Laplace noise, and the theta function
// Σ_k exp(−σ²(t+2πk)²/2), divided by its value at 0, for discrete Gaussian noise (Poisson's summation). It is positive
// and symmetric.
type sumLaw struct {
	draws     []weightedNoise
	deviation float64
}

// weightedNoise is so many draws of one noise, each times a weight.
type weightedNoise struct {
	weight, count float64
	kind          budget.Kind
	parameter     float64
}

// newSumLaw is the law of the noise on what rests on measurements with these weights.
func newSumLaw(bearings []synth.Bearing) sumLaw {
	var l sumLaw
	var variance float64
	for _, b := range bearings {
		parameter, _ := b.Measurement.Mechanism.Parameter.Float64()
		for _, w := range b.Weights {
			l.draws = append(l.draws, weightedNoise{math.Abs(w.Value), float64(w.Integers), b.Measurement.Mechanism.Kind, parameter})
		}
		variance += b.Variance
	}
	l.deviation = math.Sqrt(variance)
	return l
}

// whole tells that the sum is one of integers, each as it is.
func (l sumLaw) whole() bool {
	for _, d := range l.draws {
		if math.Abs(d.weight-1) > 1e-9 || d.kind != l.draws[0].kind || d.parameter != l.draws[0].parameter {
			return false
		}
	}
	return true
}

// least is below any φ that matters.
const leastLog = -36

// log is ln φ(θ), or something below leastLog where that is.
func (l sumLaw) log(theta float64) float64 {
	sum := 0.0
	for _, d := range l.draws {
		if sum += d.count * d.log(d.weight*theta); sum < leastLog {
			break
		}
	}
	return sum
}

func (d weightedNoise) log(t float64) float64 {
	if d.kind == budget.DiscreteLaplace {
		sin, a := math.Sin(t/2), math.Exp(-1/d.parameter)
		return -math.Log1p(4 * a * sin * sin / ((1 - a) * (1 - a)))
	}
	t = math.Abs(math.Remainder(t, 2*math.Pi))
	at, zero := 0.0, 0.0 // beside the first summand of each
	for k := 1.0; k <= thetaTerms(d.parameter); k++ {
		zero += 2 * math.Exp(-d.parameter*2*math.Pi*math.Pi*k*k)
		for _, other := range []float64{2*math.Pi*k - t, 2*math.Pi*k + t} {
			at += math.Exp(-d.parameter * (other*other - t*t) / 2)
		}
	}
	return -d.parameter*t*t/2 + math.Log1p(at) - math.Log1p(zero)
}

// thetaTerms is how many summands on either side the theta function takes, for a relative error below 1e-16: the first
// that is left out is at most exp(−σ²·2π²·K(K+1)) of the largest.
func thetaTerms(parameter float64) float64 {
	return 1 + math.Floor(math.Sqrt(2/parameter))
}

// wholeMargin is the least whole m with P(|S| ≤ m) at least the confidence, and that probability, for a sum of integers:
//
//	P(|S| ≤ m) = (1/L)·Σ_k φ(2πk/L)·sin((2m+1)πk/L)/sin(πk/L), k = 0 … L−1,
//
// exactly but for what S has beyond L−m−1 and what φ has where it is below e^−36.
func (l sumLaw) wholeMargin(confidence float64) (margin int64, attained float64) {
	var phi []float64                          // at 2πk/L, from k = 1 on
	length := 2*math.Ceil(25*l.deviation) + 51 // odd, so that all but k = 0 come in pairs
	for k := 1.0; k < length/2; k++ {
		v := l.log(2 * math.Pi * k / length)
		if v < leastLog {
			break
		}
		phi = append(phi, math.Exp(v))
	}
	within := func(m int64) float64 {
		odd := 2*float64(m) + 1
		sum := odd
		for i, v := range phi {
			x := math.Pi * float64(i+1) / length
			sum += 2 * v * math.Sin(odd*x) / math.Sin(x)
		}
		return sum / length
	}
	low, high := int64(-1), int64(math.Ceil(l.deviation/math.Sqrt(1-confidence)))+1 // enough, by Chebyshev's inequality
	for high-low > 1 {
		if middle := low + (high-low)/2; within(middle) >= confidence {
			high = middle
		} else {
			low = middle
		}
	}
	return high, within(high)
}

// smoothing is by how many standard errors the law is blurred where it is read off, and blurs how many of that are
// conceded on either side: a normal law leaves 6.4e-5 beyond them.
const (
	smoothing = 1. / 4096
	blurs     = 4
)

// attained is a lower bound of P(|S| ≤ m) for any weights. Blurred by a normal Z of deviation τ, S has
//
//	P(|S+Z| ≤ x) = 2x/L + Σ_k (2/πk)·sin(2πkx/L)·φ(2πk/L)·exp(−(2πkτ/L)²/2), k = 1, 2 …,
//
// but for what it has beyond L−x; and P(|S| ≤ m) ≥ P(|S+Z| ≤ m − 4τ) − P(|Z| > 4τ).
func (l sumLaw) attained(m float64) float64 {
	if !(l.deviation > 0) {
		return 1
	}
	tau := smoothing * l.deviation
	x := m - blurs*tau
	length := 50*l.deviation + 2*m
	sum := 2 * x / length
	for k := 1.0; ; k++ {
		theta := 2 * math.Pi * k / length
		blur := -theta * theta * tau * tau / 2
		if blur < leastLog/2 {
			break
		}
		if v := blur + l.log(theta); v > leastLog {
			sum += 2 / (math.Pi * k) * math.Sin(theta*x) * math.Exp(v)
		}
	}
	const beyond = 6.4e-5
	return math.Max(0, sum-beyond)
}
