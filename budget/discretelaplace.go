package budget

import (
	"fmt"
	"math"
	"math/big"
)

// The discrete Laplace (two-sided geometric) law with scale t, written with
// a = exp(−1/t):
//
//	P(x) = (1−a)/(1+a) · a^|x|,   x ∈ ℤ
//	P(|X| > m) = 2·a^(m+1)/(1+a)
//	Var X = 2a/(1−a)²
//
// Source: Ghosh, Roughgarden & Sundararajan 2009, Inusah & Kozubowski 2006.

// LaplaceFor returns the discrete Laplace mechanism that spends at most epsilon
// on an integer query whose answers move by at most l1 in sum of absolute
// changes between neighbours. The scale is t = l1/ε rounded up to a multiple of
// 2⁻¹².
//
// Guarantee: adding independent noise of scale t to every coordinate is
// (l1/t)-differentially private, and l1/t ≤ ε. Neighbours: those for which l1
// bounds Σ|Δ|, whether add-remove or replace; the caller has to have computed
// l1 for the relation the release declares. Theorem: P(x)/P(x−s) ≤ exp(|s|/t)
// for all integers x, s, multiplied over the coordinates (Dwork, McSherry,
// Nissim & Smith 2006; on integers Ghosh, Roughgarden & Sundararajan 2009).
// Argument: docs/proofs/laplace.md.
//
// It returns an error unless l1 and epsilon are positive and t is at most 2^50.
func LaplaceFor(l1 *big.Int, epsilon *big.Rat) (Mechanism, error) {
	if l1 == nil || l1.Sign() <= 0 {
		return Mechanism{}, fmt.Errorf("discrete Laplace noise: the L1 sensitivity must be positive")
	}
	if epsilon == nil || epsilon.Sign() <= 0 {
		return Mechanism{}, fmt.Errorf("discrete Laplace noise: epsilon must be positive")
	}
	t := roundUpToGrid(new(big.Rat).Quo(new(big.Rat).SetInt(l1), epsilon))
	m := Mechanism{
		Kind:      DiscreteLaplace,
		Parameter: t,
		L1:        new(big.Int).Set(l1),
		L2Squared: new(big.Int).Mul(l1, l1), // holds for every shift within l1
	}
	return m, m.Validate()
}

// laplaceEpsilon returns ε = l1/t, exactly.
//
// Guarantee: the discrete Laplace mechanism of scale t is ε-differentially
// private for neighbours within l1. Theorem: as for LaplaceFor.
func laplaceEpsilon(l1 *big.Int, t *big.Rat) *big.Rat {
	return new(big.Rat).Quo(new(big.Rat).SetInt(l1), t)
}

// laplaceVariance returns 2a/(1−a)².
func laplaceVariance(t float64) float64 {
	h := 1 / t
	gap := expm1(-h) // −(1−a)
	return 2 * Exp(-h) / (gap * gap)
}

// laplaceTail returns the function m ↦ P(|X| > m).
func laplaceTail(t float64) func(m int64) float64 {
	h := 1 / t
	weight := 2 / (1 + Exp(-h))
	return func(m int64) float64 {
		return weight * Exp(-(float64(m)+1)/t)
	}
}

// discreteLaplaceDelta returns the least δ at ε of discrete Laplace noise of scale
// 1/h whose answer moves by the integer s between neighbours, rounded up. With
// T = min(max(X, 0), s) the loss is L = h(s − 2T); with m the largest T < s whose
// loss is above ε and d = h(s−2m) − ε,
//
//	δ = (1 − a^m) + a^m·(1 − e^{−d})/(1+a),   −hs ≤ ε < hs.
//
// Guarantee: for neighbours that move one answer by at most s. Theorem: the best
// event is T ≤ m. Argument: docs/proofs/laplace.md for the law.
func discreteLaplaceDelta(h float64, s int64, epsilon float64) float64 {
	if !(h >= 0) || math.IsInf(h, 1) || s < 0 || epsilon != epsilon {
		return 1
	}
	gap := func(m int64) float64 {
		high, low := twoProduct(float64(s-2*m), h)
		return (high - epsilon) + low
	}
	switch {
	case !(gap(0) > 0):
		return 0
	case gap(s) > 0: // ε is below every loss
		return atMostOne(raised(-expm1(epsilon), 4))
	}
	m := int64(math.Max(0, math.Min(float64(s-1), math.Ceil((float64(s)-epsilon/h)/2)-1)))
	for m > 0 && !(gap(m) > 0) {
		m--
	}
	for m < s-1 && gap(m+1) > 0 {
		m++
	}
	below := Exp(-float64(float64(m) * h))
	delta := -expm1(-float64(float64(m)*h)) + below*-expm1(-gap(m))/(1+Exp(-h))
	return atMostOne(raised(delta, 32+float64(2*float64(m)*h)))
}

// mostLosses bounds the losses that a divergence is summed over.
const mostLosses = 1 << 20

// discreteLaplaceRDP returns the Rényi divergence of order α ≥ 1 of the same,
// rounded up; for s above 2^20 the bound of a mechanism that is hs-private.
//
// Guarantee: for neighbours that move one answer by at most s. Theorem: the
// divergence of the law of the losses; beyond, Bun & Steinke 2016, proposition 3.3.
func discreteLaplaceRDP(h float64, s int64, order float64) float64 {
	if !(h >= 0) || math.IsInf(h, 1) || s < 0 {
		return math.Inf(1)
	}
	most := float64(h * float64(s))
	if s > mostLosses {
		return raised(math.Min(most, most*most/2*math.Max(order, 1)), 8)
	}
	whole := 1 + Exp(-h)
	atoms := []lossAtom{{most, 1 / whole}, {-most, Exp(-most) / whole}}
	for t := int64(1); t < s; t++ {
		mass := -expm1(-h) * Exp(-float64(float64(t)*h)) / whole
		atoms = append(atoms, lossAtom{float64(h * float64(s-2*t)), mass})
	}
	return renyiDivergence(atoms, order)
}
