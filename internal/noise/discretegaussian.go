package noise

import (
	"math/big"
	"math/bits"
)

// AddDiscreteGaussian adds to every count an independent integer X with
//
//	P(X = x) = exp(−x²/2σ²)/Σ exp(−y²/2σ²),   x, y ∈ ℤ
//
// for the parameter σ² > 0, in place.
//
// Guarantee: given uniform bits the law is exactly this one, for every rational
// σ², with no tail cut off; so the mechanism is (Δ₂²/2σ²)-zCDP for every pair of
// neighbours whose exact counts differ by at most Δ₂² in sum of squares.
// Theorem: Canonne, Kamath & Steinke 2020, algorithm 3 and theorems 14 and 23.
// Argument: docs/proofs/sampler.md.
//
// It returns an error for a σ² that is not positive or has more than 4096 bits,
// and where a count or a noisy count reaches 2⁶² in absolute value. After an
// error all counts are zero: neither exact nor half-noisy integers remain.
func AddDiscreteGaussian(b *Bits, sigmaSquared *big.Rat, counts []int64) error {
	if err := checkParameter("σ² of discrete Gaussian noise", sigmaSquared); err != nil {
		clear(counts)
		return err
	}
	reference := newBigGaussian(sigmaSquared)
	if law, fits := newGaussian(reference); fits {
		return addNoise(counts, func() (int64, error) { return law.draw(b) })
	}
	return addNoise(counts, func() (int64, error) { return smallEnough(reference.draw(b)) })
}

// gaussian is the discrete Gaussian law of σ² = n/d on 64-bit words.
type gaussian struct {
	proposal  laplace // of integer scale t = ⌊σ⌋ + 1
	n         uint64  // numerator of σ²
	td        uint64  // t·d
	twoN      uint64  // 2n
	ttd       uint64  // t²·d
	reference bigGaussian
}

// newGaussian returns the law on 64-bit words, and false if n, 2n, t·d or t²·d
// has more than 63 bits.
func newGaussian(reference bigGaussian) (gaussian, bool) {
	const limit = 63
	for _, number := range []*big.Int{reference.twoN, reference.td, reference.ttd} {
		if number.BitLen() > limit {
			return gaussian{}, false
		}
	}
	return gaussian{
		proposal:  laplace{reference.proposal.numerator.Uint64(), 1},
		n:         reference.n.Uint64(),
		td:        reference.td.Uint64(),
		twoN:      reference.twoN.Uint64(),
		ttd:       reference.ttd.Uint64(),
		reference: reference,
	}, true
}

// draw returns one X: a discrete Laplace Y of scale t, accepted with probability
// exp(−(|Y|−σ²/t)²/2σ²). In integers that exponent is A²/(2n·t²d) with
// A = | |Y|·td − n |. Where A has more than 63 bits the reference decides, from
// the same bits. (A |Y| of 2⁶² or more is an overflow before that decision: for
// every σ² that fits here, σ < 2³², it lies 2³⁰ standard deviations out.)
func (g gaussian) draw(b *Bits) (int64, error) {
	for {
		y, err := g.proposal.draw(b)
		if err != nil {
			return 0, err
		}
		if g.accept(b, uint64(max(y, -y))) {
			return y, nil
		}
	}
}

func (g gaussian) accept(b *Bits, magnitude uint64) bool {
	high, scaled := bits.Mul64(magnitude, g.td)
	if high != 0 || scaled >= 1<<63 {
		return g.reference.accept(b, new(big.Int).SetUint64(magnitude))
	}
	return bernoulliExpSquare(b, distance(scaled, g.n), g.twoN, g.ttd)
}

func distance(x, y uint64) uint64 {
	if x < y {
		return y - x
	}
	return x - y
}

// bigGaussian is the reference of gaussian, for a σ² of any size.
type bigGaussian struct {
	proposal         bigLaplace
	n, td, twoN, ttd *big.Int
}

func newBigGaussian(sigmaSquared *big.Rat) bigGaussian {
	n, d := sigmaSquared.Num(), sigmaSquared.Denom()
	t := new(big.Int).Quo(n, d)
	t.Sqrt(t).Add(t, bigOne) // ⌊√(n/d)⌋ = ⌊√⌊n/d⌋⌋
	td := new(big.Int).Mul(t, d)
	return bigGaussian{
		proposal: bigLaplace{t, bigOne},
		n:        n,
		td:       td,
		twoN:     new(big.Int).Lsh(n, 1),
		ttd:      new(big.Int).Mul(td, t),
	}
}

func (g bigGaussian) draw(c coins) *big.Int {
	for {
		y := g.proposal.draw(c)
		if g.accept(c, new(big.Int).Abs(y)) {
			return y
		}
	}
}

// accept returns true with probability exp(−(magnitude−σ²/t)²/2σ²).
func (g bigGaussian) accept(c coins, magnitude *big.Int) bool {
	a := new(big.Int).Mul(magnitude, g.td)
	a.Sub(a, g.n).Abs(a)
	return bigBernoulliExpSquare(c, a, g.twoN, g.ttd)
}
