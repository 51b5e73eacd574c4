package noise

import "math/big"

// AddDiscreteLaplace adds to every count, in place, an independent integer X with
//
//	P(X = x) = (1−a)/(1+a) · a^|x|,   a = exp(−1/t),   x ∈ ℤ
//
// for the scale t > 0.
//
// Guarantee: given uniform bits the law is exactly this one, for every rational
// t, with no tail cut off. The mechanism is (Δ₁/t)-differentially private for the bits drawn.
// Neighbours: every pair whose exact counts differ by at most Δ₁ in sum.
// Theorem: Ghosh, Roughgarden & Sundararajan 2009; see docs/proofs/laplace.md.
// Argument: docs/proofs/sampler.md.
//
// It returns an error for a scale that is not positive or has more than 4096
// bits, and where noise, a count or a noisy count reaches 2⁶² in absolute value.
// After an error all counts are zero: neither exact nor half-noisy integers
// remain.
func AddDiscreteLaplace(b *Bits, scale *big.Rat, counts []int64) error {
	if err := checkParameter("scale of discrete Laplace noise", scale); err != nil {
		clear(counts)
		return err
	}
	return samplers.samplerOf(false, scale).addDraws(b, counts)
}
