package release

import (
	"fmt"
	"math"
	"sort"

	"github.com/dprelease/dprelease/budget"
)

// This file holds the margin of a difference: how far two independent draws of noise drive two figures apart.

// slack covers the rounding of the few floating-point steps below.
const slack = 1e-9

// differenceMargin is a whole number m such that |X − Y| > m has a chance of at
// most chance, for independent noise X and Y of two mechanisms: the largest
// difference that the noise explains.
//
// Where both laws are discrete Laplace it is the quantile for two draws of the
// wider one, exact where they have one scale (laplaceMargin), if that is less. Else
// it is Chernoff's bound for the discrete laws themselves, not for a normal law:
// P(X − Y ≥ m) ≤ exp(K(s) − s·m) for every s > 0 at which K(s) = log E exp(sX) +
// log E exp(−sY) is finite. Both laws are symmetric, so E exp(−sY) = E exp(sY),
// and P(|X − Y| ≥ m) is at most twice that. Each s thus makes m = (K(s) + log(2 /
// chance)) / s a valid margin, and the search below only looks for a small one.
//
// Discrete Laplace with scale t, by summing two geometric series with p =
// exp(−1/t): E exp(sX) = (1 − p)² / ((1 − p·eˢ)(1 − p·e⁻ˢ)) for s < 1/t. Discrete
// Gaussian with parameter σ²: E exp(sX) ≤ exp(s²σ²/2), since completing the square
// leaves exp(s²σ²/2) times the ratio of Σₓ exp(−(x − sσ²)²/2σ²) to Σₓ exp(−x²/2σ²),
// and a shift off the integers lowers that sum (its Fourier series has positive
// coefficients, by Poisson summation, so it is largest at 0; Canonne, Kamath and
// Steinke 2020, lemma 22). For two Gaussians the best s gives m = √(2(σ²+τ²)
// log(2/chance)), which is above the quantile of the normal law with that
// variance.
func differenceMargin(x, y budget.Mechanism, chance float64) (int64, error) {
	laws := [2]symmetricLaw{}
	for i, m := range []budget.Mechanism{x, y} {
		var err error
		if laws[i], err = symmetricLawOf(m); err != nil {
			return 0, err
		}
	}
	tail := math.Log(2 / chance)
	bound := func(s float64) float64 { return (laws[0].logMoment(s) + laws[1].logMoment(s) + tail) / s }
	margin := int64(math.Ceil(bound(bestTilt(bound, laws))*(1+slack))) - 1
	if laws[0].t > 0 && laws[1].t > 0 {
		margin = laplaceMargin(max(laws[0].t, laws[1].t), chance, margin)
	}
	return margin, nil
}

// laplaceMargin is the least m, at most a margin that is known, for which two
// draws of discrete Laplace noise with scale t differ by more than m with a chance
// of at most chance.
//
// With p = exp(−1/t), P(X − Y = d) = ((1 − p)/(1 + p))² p^|d| (|d| + (1 + p²)/(1 −
// p²)), by summing p^|x| p^|d − x|; its tail is the sum of a geometric series and
// of its derivative. A Y of a smaller scale does not drive the two further apart:
// P(|X − y| > m) rises with |y|, for X is symmetric and falls off to both sides,
// and P(|Y| > y) = 2p^(y+1)/(1 + p) rises with the scale.
func laplaceMargin(t, chance float64, known int64) int64 {
	p, q := math.Exp(-1/t), -math.Expm1(-1/t) // q = 1 − p
	beyond := func(m int64) float64 {
		n := float64(m) + 1
		return 2 * q / ((1 + p) * (1 + p)) * math.Exp(-n/t) * (n + (1+p*p)/(q*(1+p)) + p/q)
	}
	least := sort.Search(int(known), func(m int) bool { return beyond(int64(m))*(1+slack) <= chance })
	return int64(least)
}

// bestTilt is an s at which the bound is near its least. The bound falls and then
// rises: K is convex and vanishes at 0. Logarithms of s are searched by thirds
// between where the bound is surely falling and where it is infinite or rising.
func bestTilt(bound func(s float64) float64, laws [2]symmetricLaw) float64 {
	scale := max(laws[0].scale(), laws[1].scale())
	low, high := math.Log(1e-3/scale), math.Log(1e3/scale)
	for range 200 {
		third := (high - low) / 3
		a, b := low+third, high-third
		if bound(math.Exp(a)) <= bound(math.Exp(b)) {
			high = b
		} else {
			low = a
		}
	}
	return math.Exp(low)
}

// symmetricLaw is the law of a mechanism's noise: discrete Laplace where t is positive,
// else discrete Gaussian with parameter variance.
type symmetricLaw struct{ t, variance float64 }

func symmetricLawOf(m budget.Mechanism) (symmetricLaw, error) {
	parameter, _ := m.Parameter.Float64()
	switch m.Kind {
	case budget.DiscreteLaplace:
		return symmetricLaw{t: parameter}, nil
	case budget.DiscreteGaussian:
		return symmetricLaw{variance: parameter}, nil
	}
	return symmetricLaw{}, fmt.Errorf("the mechanism %q adds no noise whose law is known", m.Kind)
}

// scale is about a standard deviation.
func (l symmetricLaw) scale() float64 { return max(l.t, math.Sqrt(l.variance)) }

// logMoment is log E exp(sX), or a bound of it; +∞ where there is none.
func (l symmetricLaw) logMoment(s float64) float64 {
	if l.t == 0 {
		return s * s * l.variance / 2
	}
	if s*l.t >= 1 {
		return math.Inf(1)
	}
	logOneMinus := func(exponent float64) float64 { return math.Log(-math.Expm1(exponent)) } // of 1 − e^exponent
	return 2*logOneMinus(-1/l.t) - logOneMinus(s-1/l.t) - logOneMinus(-s-1/l.t)
}
