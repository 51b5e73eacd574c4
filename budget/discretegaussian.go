package budget

import (
	"fmt"
	"math"
	"math/big"
)

// The discrete Gaussian law with parameter σ²:
//
//	P(x) = exp(−x²/2σ²)/Z,   Z = Σ exp(−y²/2σ²),   x, y ∈ ℤ
//
// Poisson summation gives the normaliser and the variance a second form,
//
//	Z = √(2πσ²)·(1 + 2·exp(−2π²σ²) + …)
//	Var X = σ² − 8π²σ⁴·exp(−2π²σ²) + …
//
// whose corrections are below 1e-19 of the whole once σ² ≥ 2½: from there on
// Z = √(2πσ²) and Var X = σ² to every digit of float64. Source: Canonne,
// Kamath & Steinke 2020, fact 18 and lemma 20.

// discreteGaussian is the discrete Gaussian law with parameter σ². Its price is a ρ.
type discreteGaussian struct{}

const (
	// poissonFrom is the σ² from which the Poisson form needs no correction.
	poissonFrom = 2.5
	// eulerFrom is the σ² from which tails are summed by Euler–Maclaurin.
	eulerFrom = 1 << 20
	sqrtTwoPi = 2.506628274631000502415765284811
)

// GaussianFor returns the discrete Gaussian mechanism that spends at most rho on an integer query with L1 sensitivity
// l1 and squared L2 sensitivity l2Squared. σ² is l2Squared/2ρ rounded up to a multiple of 2⁻¹².
//
// Guarantee: adding independent noise of parameter σ² to every coordinate is (l2Squared/2σ²)-zCDP, and l2Squared/2σ² ≤
// ρ. Neighbours: those for which l2Squared bounds ΣΔ², whether add-remove or replace; the caller must have computed it
// for the relation that the release declares. Theorem: Canonne, Kamath & Steinke 2020, theorem 14 (zCDP of independent
// discrete Gaussians). Argument: docs/proofs/gaussian.md.
//
// It returns an error unless all three are positive, l2Squared ≤ l1², and σ² is
// at most 2^100.
func GaussianFor(l1, l2Squared *big.Int, rho *big.Rat) (Mechanism, error) {
	if l1 == nil || l1.Sign() <= 0 || l2Squared == nil || l2Squared.Sign() <= 0 {
		return Mechanism{}, fmt.Errorf("discrete Gaussian noise: both sensitivities must be positive")
	}
	if rho == nil || rho.Sign() <= 0 {
		return Mechanism{}, fmt.Errorf("discrete Gaussian noise: rho must be positive")
	}
	twice := new(big.Rat).Add(rho, rho)
	m := Mechanism{
		Kind:      DiscreteGaussian,
		Parameter: roundUpToGrid(twice.Quo(new(big.Rat).SetInt(l2Squared), twice)),
		L1:        new(big.Int).Set(l1),
		L2Squared: new(big.Int).Set(l2Squared),
	}
	return m, m.Validate()
}

// LeastGaussianShare is the least σ² of a share of discrete Gaussian noise ([Shares]).
const LeastGaussianShare = 16

// mostSharedBits bounds the σ² of discrete Gaussian noise in shares by 2^80: a sum of 1000 shares, each below 2^52,
// stays below 2^62 unless a share is 4096 σ away.
const mostSharedBits = 80

// checkGaussianShares returns an error if noise of a σ² is not drawn in so many shares.
func checkGaussianShares(sigmaSquared *big.Rat, needed int) error {
	least := big.NewRat(LeastGaussianShare*int64(needed), 1)
	most := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), mostSharedBits))
	if sigmaSquared.Cmp(least) < 0 || sigmaSquared.Cmp(most) > 0 {
		return fmt.Errorf("σ² of discrete Gaussian noise in %d shares is from %s to 2^%d", needed, least.RatString(),
			mostSharedBits)
	}
	return nil
}

// gaussianRho returns ρ = l2Squared/2σ², exactly.
//
// Guarantee: the discrete Gaussian mechanism of parameter σ² is ρ-zCDP for
// neighbours within l2Squared. Theorem: as for GaussianFor.
func gaussianRho(l2Squared *big.Int, sigmaSquared *big.Rat) *big.Rat {
	rho := new(big.Rat).Quo(new(big.Rat).SetInt(l2Squared), sigmaSquared)
	return rho.Quo(rho, big.NewRat(2, 1))
}

func (discreteGaussian) lawNames() lawNames {
	return lawNames{name: "discrete Gaussian", letter: "σ²", asked: "gaussian"}
}

func (discreteGaussian) isPure() bool { return false }

// isSubGaussian: Canonne, Kamath & Steinke 2020, corollary 17.
func (discreteGaussian) isSubGaussian() bool { return true }

func (discreteGaussian) parameterBits() uint { return 2 * maxDeviationBits }

func (discreteGaussian) mechanismFor(l1, l2Squared *big.Int, rho *big.Rat) (Mechanism, error) {
	return GaussianFor(l1, l2Squared, rho)
}

func (discreteGaussian) costOf(m Mechanism) *big.Rat { return gaussianRho(m.L2Squared, m.Parameter) }

// variance returns Var X: σ² in the Poisson form, else the sum over the law, Σ x²·exp(−x²/2σ²)/Z.
func (discreteGaussian) variance(sigmaSquared float64) float64 {
	if sigmaSquared >= poissonFrom {
		return sigmaSquared
	}
	var sum float64
	for x := lastTerm(sigmaSquared, 0); x >= 1; x-- {
		sum += float64(2 * x * x * Exp(-x*x/(2*sigmaSquared)))
	}
	return sum / gaussianNormaliser(sigmaSquared)
}

// gaussianNormaliser returns Z.
func gaussianNormaliser(sigmaSquared float64) float64 {
	if sigmaSquared >= poissonFrom {
		return sqrtTwoPi * math.Sqrt(sigmaSquared)
	}
	return 1 + float64(2*gaussianUpperSum(sigmaSquared, 1))
}

// tailFunction returns the function m ↦ P(|X| > m).
func (discreteGaussian) tailFunction(sigmaSquared float64) func(m int64) float64 {
	weight := 2 / gaussianNormaliser(sigmaSquared)
	upper := gaussianUpperSum
	if sigmaSquared >= eulerFrom {
		upper = gaussianUpperSumByEuler
	}
	return func(m int64) float64 {
		return weight * upper(sigmaSquared, float64(m)+1)
	}
}

func (discreteGaussian) excessOver(float64) float64 { return 0 }

// outcomes covers 6.5 σ, as Q(6.5) = 4e−11.
func (discreteGaussian) outcomes(sigmaSquared float64) Outcomes {
	return Outcomes{
		Size:   math.Floor(6.5*math.Sqrt(sigmaSquared)) + 2,
		Weight: func(x float64) float64 { return Exp(-float64(x*(x/2)) / sigmaSquared) },
	}
}

func (discreteGaussian) continuousVariance(sigmaSquared float64) float64 { return sigmaSquared }

func (discreteGaussian) continuousQuantile(chance float64) float64 { return NormalQuantile(chance / 2) }

func (discreteGaussian) parameterFor(_, l2Squared, rho float64) float64 { return l2Squared / rho / 2 }

// gaussianUpperSum returns Σ exp(−x²/2σ²) over integers x ≥ from, adding the
// small terms first.
func gaussianUpperSum(sigmaSquared, from float64) float64 {
	var sum float64
	for x := lastTerm(sigmaSquared, from); x >= from; x-- {
		sum += Exp(-x * x / (2 * sigmaSquared))
	}
	return sum
}

// lastTerm returns an integer beyond which Σ exp(−x²/2σ²) adds less than 1e-18 of the term at from: x² = from² + 2σ²·50
// makes the term there 2e-22 of it.
func lastTerm(sigmaSquared, from float64) float64 {
	return math.Floor(math.Sqrt(float64(from*from)+float64(100*sigmaSquared))) + 1
}

// gaussianUpperSumByEuler is gaussianUpperSum by the Euler–Maclaurin formula at
// midpoints: with f(x) = exp(−x²/2σ²) and a = from − ½,
//
//	Σ f(x) = ∫ₐ^∞ f + f′(a)/24 − 7f‴(a)/5760 + …
//
// For σ² ≥ 2^20 and a ≤ 38σ, beyond which the sum is below 1e-313, the terms
// left out are below 1e-14 of the sum.
func gaussianUpperSumByEuler(sigmaSquared, from float64) float64 {
	sigma := math.Sqrt(sigmaSquared)
	z := (from - 0.5) / sigma
	density := Exp(-z * z / 2)
	first := -z / (24 * sigma)
	third := float64(7*z*(float64(z*z)-3)) / (5760 * sigma * sigmaSquared)
	return float64(sigma*gaussianUpperIntegral(z)) + float64(density*(first+third))
}

// gaussianUpperIntegral returns ∫_z^∞ exp(−t²/2) dt for z ≥ 0: below 2 by the
// series exp(−z²/2)·Σ z^(2k+1)/(1·3·…·(2k+1)) of its complement, from 2 on by
// Laplace's continued fraction exp(−z²/2)/(z + 1/(z + 2/(z + …))).
func gaussianUpperIntegral(z float64) float64 {
	density := Exp(-z * z / 2)
	if z < 2 {
		sum, term := 0.0, z
		for k := 1; k <= 40; k++ {
			sum += term
			term = float64(term*z) * z / float64(2*k+1)
		}
		return sqrtTwoPi/2 - float64(density*sum)
	}
	fraction := z
	for k := 120; k >= 1; k-- {
		fraction = z + float64(k)/fraction
	}
	return density / fraction
}
