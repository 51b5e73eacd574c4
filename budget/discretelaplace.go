package budget

import (
	"fmt"
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
