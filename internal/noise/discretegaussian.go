package noise

import "math/big"

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
