package noise

import (
	"fmt"
	"math/big"
)

// AddDiscreteGaussian adds to every count, in place, an independent integer X with
//
//	P(X = x) = exp(−x²/2σ²)/Σ exp(−y²/2σ²),   x, y ∈ ℤ
//
// for the parameter σ² > 0.
//
// Guarantee: given uniform bits the law is exactly this one, for every rational
// σ², with no tail cut off. The mechanism is (Δ₂²/2σ²)-zCDP for the bits drawn.
// Neighbours: every pair whose exact counts differ by at most Δ₂² in sum of
// squares.
// Theorem: Canonne, Kamath & Steinke 2020, theorem 14; see docs/proofs/gaussian.md.
// Argument: docs/proofs/sampler.md.
//
// It returns an error for a σ² that is not positive or has more than 4096 bits,
// and where noise, a count or a noisy count reaches 2⁶² in absolute value. After
// an error all counts are zero: neither exact nor half-noisy integers remain.
func AddDiscreteGaussian(b *Bits, sigmaSquared *big.Rat, counts []int64) error {
	if err := checkParameter("σ² of discrete Gaussian noise", sigmaSquared); err != nil {
		clear(counts)
		return err
	}
	return samplers.samplerOf(true, sigmaSquared).addDraws(b, counts)
}

// LeastGaussianShare is the least σ² of a share of discrete Gaussian noise.
const LeastGaussianShare = 16

// AddGaussianShare adds to every count, in place, an independent share of discrete Gaussian noise of parameter σ². With
// t = holders a share is discrete Gaussian noise of parameter σ²/t, as [AddDiscreteGaussian] draws it.
//
// Guarantee: given uniform bits the law of a share is exactly this one. The sum of n independent shares is within
// n·2⁻²²⁵ in total variation of discrete Gaussian noise of parameter nσ²/t. Fewer than t shares do not protect as t do.
// Theorem: Poisson summation; Kairouz, Liu & Steinke 2021 bound such sums likewise. Argument: docs/proofs/sampler.md,
// part 7.
//
// It returns an error where [AddDiscreteGaussian] does, for fewer than 1 holders, and for a σ²/t below
// [LeastGaussianShare]. After an error all counts are zero.
func AddGaussianShare(b *Bits, sigmaSquared *big.Rat, holders int, counts []int64) error {
	if err := checkGaussianShare(sigmaSquared, holders); err != nil {
		clear(counts)
		return err
	}
	return AddDiscreteGaussian(b, new(big.Rat).Quo(sigmaSquared, big.NewRat(int64(holders), 1)), counts)
}

// checkGaussianShare returns an error for noise that is not shared.
func checkGaussianShare(sigmaSquared *big.Rat, holders int) error {
	if err := checkParameter("σ² of shared discrete Gaussian noise", sigmaSquared); err != nil {
		return err
	}
	if holders < 1 {
		return fmt.Errorf("noise is shared by at least 1 holder, not by %d", holders)
	}
	if sigmaSquared.Cmp(big.NewRat(LeastGaussianShare*int64(holders), 1)) < 0 {
		return fmt.Errorf("σ² of shared discrete Gaussian noise must be at least %d for each holder that shares it",
			LeastGaussianShare)
	}
	return nil
}
