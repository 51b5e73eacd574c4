package budget

import (
	"math"
	"math/big"
)

// This file bounds the loss of discrete Gaussian noise by the norm of the shift alone. Such noise is nearly continuous
// Gaussian noise of a slightly smaller variance, rounded at random, and loses no more than that does.
//
// Add N(0, σ²−s²) to an integer and then draw a discrete Gaussian of parameter s² about the result: with s² = 3 that is
// the discrete Gaussian of parameter σ², up to factors within e^{±2⁻⁸³} of 1 in every probability (Peikert 2010,
// theorem 3.1, by Poisson's summation formula). The drawing is post-processing, so any shift, however many coordinates
// it has, loses no more than a Gaussian with μ = ‖shift‖₂/√(σ²−s²).

const (
	// smoothingVariance is s².
	smoothingVariance = 3
	// smoothingSlack bounds the logarithm of the factors of one coordinate: both
	// ln(1+η) and ln((1+η)/(1−η)) for η = 2·Σ_{k≥1} e^{−2π²k²s²} < 2⁻⁸⁴.
	smoothingSlack = 0x1p-82
	// leastSmoothed is the least σ² for which this bound is used: below it, ρ is tighter.
	leastSmoothed = 24
	// plainlySmooth is a σ² from which listing shapes of shifts gains next to nothing: σ²−s² is within 0.3 % of it.
	plainlySmooth = 1 << 10
	// nearlyContinuous is a σ² from which σ²−s² is within 3e-9 of it.
	nearlyContinuous = 1 << 30
	// mostSlack bounds the factors of all coordinates of a mechanism.
	mostSlack = 0x1p-40
)

// smoothedGaussian returns μ² of the continuous Gaussian that dominates the mechanism up to factors e^{±slack} on the
// probabilities of its outputs. It returns false for a mechanism without Gaussian noise, or with so little that the
// bound is looser than its ρ.
//
// Guarantee: for all neighbours whose answers differ by an integer vector of square norm at most L2Squared with at most
// min(L1, L2Squared) coordinates that are not 0, or by one that loses no more than one of the known shifts. Theorem:
// Peikert 2010, theorem 3.1. Argument: docs/proofs/smoothing.md.
func (m Mechanism) smoothedGaussian() (muSquared, slack float64, ok bool) {
	variance := big.NewRat(smoothingVariance, 1)
	if !m.Kind.isSmoothable() || m.Parameter.Cmp(big.NewRat(leastSmoothed, 1)) < 0 {
		return 0, 0, false
	}
	squares, changed := m.largestNorm()
	norm := new(big.Rat).SetInt(squares)
	muSquared = roundUp(norm.Quo(norm, variance.Sub(m.Parameter, variance)))
	slack = float64(roundUp(new(big.Rat).SetInt(changed)) * smoothingSlack)
	return muSquared, slack, slack <= mostSlack
}

// largestNorm returns the largest square norm and the largest number of coordinates of a shift, among the known shifts
// or within the sensitivities.
func (m Mechanism) largestNorm() (squares, coordinates *big.Int) {
	squares, coordinates = new(big.Int), big.NewInt(1)
	switch {
	case m.Shifts != nil:
		for _, shift := range m.Shifts {
			if _, own := sumAndSquares(shift); own.Cmp(squares) > 0 {
				squares = own
			}
			if changed := big.NewInt(int64(len(shift))); changed.Cmp(coordinates) > 0 {
				coordinates = changed
			}
		}
	case m.L2Squared.Cmp(new(big.Int).Mul(m.L1, m.L1)) >= 0: // all merge into one coordinate
		squares = m.L2Squared
	case m.L2Squared.Cmp(m.L1) < 0:
		squares, coordinates = m.L2Squared, m.L2Squared
	default:
		squares, coordinates = m.L2Squared, m.L1
	}
	return squares, coordinates
}

// absorbedGaussian returns μ² of the continuous Gaussian that replaces the mechanism when it runs together with
// continuous Gaussian noise of this μ² > 0, up to a factor e^{slack} on δ. It returns false for a mechanism whose
// losses lie too far apart, and for one with several worst shifts. Nothing is subtracted from σ²: the other noise
// smooths the steps of this one.
//
// Guarantee: for all neighbours within the sensitivities, together with the mechanisms behind the other noise. Theorem:
// Poisson's summation formula, for Gaussians of variance τ² ≥ 3 with 1/τ² = 1/σ² + (d/σ²)²/μ². Argument:
// docs/proofs/smoothing.md.
func (m Mechanism) absorbedGaussian(besides float64) (muSquared, slack float64, ok bool) {
	if !m.Kind.isSmoothable() || !(besides > 0) {
		return 0, 0, false
	}
	shifts, ok := m.worstShifts()
	if !ok || len(shifts) != 1 {
		return 0, 0, false
	}
	variance, shift := nearest(m.Parameter), shifts[0]
	// distance between neighbouring losses of the coordinate with the largest change
	apart := float64(shift[0]) / variance
	if !(1/variance+float64(apart*apart)/besides <= 1./smoothingVariance) {
		return 0, 0, false
	}
	_, squares := sumAndSquares(shift)
	slack = float64(float64(len(shift)) * smoothingSlack)
	return roundUp(new(big.Rat).Quo(new(big.Rat).SetInt(squares), m.Parameter)), slack, slack <= mostSlack
}

// smoothing accumulates the Gaussians of several mechanisms and their slacks.
type smoothing struct{ muSquared, slack, terms float64 }

func (s *smoothing) addTerm(muSquared, slack, count float64) {
	s.muSquared += float64(muSquared * count)
	s.slack += float64(slack * count)
	s.terms++
}

// composedGaussian returns the composition of all: Gaussians run independently lose as much as one whose μ² is the sum
// (Dong, Roth & Su 2022, corollary 3.3). μ is rounded up by far more than the rounding of the tails.
func (s smoothing) composedGaussian() Gaussian {
	return Gaussian{Sigma: 1, L2: math.Sqrt(s.muSquared) * (1 + 0x1p-40 + float64(s.terms*0x1p-51))}
}

// dominatingPair returns the pair of a Gaussian with a Sigma of 1.
func (g Gaussian) dominatingPair() pair {
	mu := g.L2
	reach := float64(tailDeviations * mu)
	return tails{above: g.lossTails, below: g.lossHeads, low: float64(mu*mu/2) - reach, high: float64(mu*mu/2) + reach}
}
