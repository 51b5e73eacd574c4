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

// discreteLaplace is the discrete Laplace law with scale t. Its price is an ε.
type discreteLaplace struct{}

// LaplaceFor returns the discrete Laplace mechanism that spends at most epsilon on an integer query with L1 sensitivity
// l1. The scale is t = l1/ε rounded up to a multiple of 2⁻¹².
//
// Guarantee: adding independent noise of scale t to every coordinate is (l1/t)-differentially private, and l1/t ≤ ε.
// Neighbours: those for which l1 bounds Σ|Δ|, whether add-remove or replace; the caller must have computed l1 for the
// relation that the release declares. Theorem: P(x)/P(x−s) ≤ exp(|s|/t) for all integers x, s, multiplied over the
// coordinates (Dwork, McSherry, Nissim & Smith 2006; on integers Ghosh, Roughgarden & Sundararajan 2009). Argument:
// docs/proofs/laplace.md.
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

func (discreteLaplace) lawNames() lawNames {
	return lawNames{name: "discrete Laplace", letter: "t", word: "scale", asked: "laplace"}
}

func (discreteLaplace) isPure() bool { return true }

func (discreteLaplace) isSubGaussian() bool { return false }

func (discreteLaplace) parameterBits() uint { return maxDeviationBits }

func (discreteLaplace) mechanismFor(l1, _ *big.Int, epsilon *big.Rat) (Mechanism, error) {
	return LaplaceFor(l1, epsilon)
}

func (discreteLaplace) costOf(m Mechanism) *big.Rat { return laplaceEpsilon(m.L1, m.Parameter) }

// variance returns 2a/(1−a)².
func (discreteLaplace) variance(t float64) float64 {
	h := 1 / t
	gap := expm1(-h) // −(1−a)
	return 2 * Exp(-h) / (gap * gap)
}

// tailFunction returns the function m ↦ P(|X| > m).
func (discreteLaplace) tailFunction(t float64) func(m int64) float64 {
	h := 1 / t
	weight := 2 / (1 + Exp(-h))
	return func(m int64) float64 {
		return weight * Exp(-(float64(m)+1)/t)
	}
}

// excessOver returns 1+3v for a variance v: the fourth cumulant is twice that of a geometric variable of variance v/2,
// and a draw is the difference of two of these.
func (discreteLaplace) excessOver(variance float64) float64 { return 1 + float64(3*variance) }

// outcomes covers 23 scales, as e^−23 = 1e−10; P(X ≥ k) = a^k/(1+a).
func (discreteLaplace) outcomes(t float64) Outcomes {
	first := 1 / (1 + Exp(-1/t))
	return Outcomes{
		Size:   math.Floor(float64(23*t)) + 2,
		Weight: func(x float64) float64 { return Exp(-x / t) },
		Beyond: func(k float64) float64 { return first * Exp(-k/t) },
	}
}

func (discreteLaplace) continuousVariance(t float64) float64 { return 2 * t * t }

func (discreteLaplace) continuousQuantile(chance float64) float64 { return -Log(chance) / math.Sqrt2 }

func (discreteLaplace) parameterFor(l1, _, epsilon float64) float64 { return l1 / epsilon }
