package noise

import (
	"math/big"
	"math/bits"
)

// AddDiscreteLaplace adds to every count an independent integer X with
//
//	P(X = x) = (1−a)/(1+a) · a^|x|,   a = exp(−1/t),   x ∈ ℤ
//
// for the scale t > 0, in place.
//
// Guarantee: given uniform bits the law is exactly this one, for every rational
// t, with no tail cut off; so the mechanism is (Δ₁/t)-differentially private for
// every pair of neighbours whose exact counts differ by at most Δ₁ in sum.
// Theorem: Canonne, Kamath & Steinke 2020, algorithm 2 and proposition 21.
// Argument: docs/proofs/sampler.md.
//
// It returns an error for a scale that is not positive or has more than 4096
// bits, and where a count or a noisy count reaches 2⁶² in absolute value. After
// an error all counts are zero: neither exact nor half-noisy integers remain.
func AddDiscreteLaplace(b *Bits, scale *big.Rat, counts []int64) error {
	if err := checkParameter("scale of discrete Laplace noise", scale); err != nil {
		clear(counts)
		return err
	}
	if scale.Num().IsUint64() && scale.Denom().IsUint64() {
		law := laplace{scale.Num().Uint64(), scale.Denom().Uint64()}
		return addNoise(counts, func() (int64, error) { return law.draw(b) })
	}
	law := bigLaplace{scale.Num(), scale.Denom()}
	return addNoise(counts, func() (int64, error) { return smallEnough(law.draw(b)) })
}

// laplace is the discrete Laplace law of scale t = numerator/denominator.
type laplace struct{ numerator, denominator uint64 }

// draw returns one X.
//
// With n/d the scale, U + nV has P(v) ∝ exp(−v/n) over v ≥ 0, so that
// ⌊(U+nV)/d⌋ has P(y) ∝ exp(−y·d/n) over y ≥ 0. A fair sign makes it two-sided;
// minus zero is drawn again.
func (l laplace) draw(b *Bits) (int64, error) {
	for {
		u, v := drawExponential(b, l.numerator)
		magnitude, fits := l.quotient(u, v)
		negative := b.Bool()
		switch {
		case !fits || magnitude >= overflowLimit:
			return 0, errOverflow
		case !negative:
			return int64(magnitude), nil
		case magnitude > 0:
			return -int64(magnitude), nil
		}
	}
}

// quotient returns ⌊(u + numerator·v)/denominator⌋, and false if that has more
// than 64 bits.
func (l laplace) quotient(u, v uint64) (uint64, bool) {
	high, low := bits.Mul64(l.numerator, v)
	low, carry := bits.Add64(low, u, 0)
	high += carry // below 2⁶⁴: n·v+u ≤ (2⁶⁴−1)² + 2⁶⁴−1
	if high == 0 {
		return low / l.denominator, true
	}
	if high >= l.denominator {
		return 0, false
	}
	quotient, _ := bits.Div64(high, low, l.denominator)
	return quotient, true
}

// drawExponential returns U in [0, n) with P(u) ∝ exp(−u/n) and an independent
// V ≥ 0 with P(v) ∝ exp(−v).
func drawExponential(b *Bits, n uint64) (u, v uint64) {
	u = b.Below(n)
	for !bernoulliExp(b, u, n) {
		u = b.Below(n)
	}
	for bernoulliExpOne(b) {
		v++
	}
	return u, v
}

// bigLaplace is the reference of laplace, for a scale of any size.
type bigLaplace struct{ numerator, denominator *big.Int }

func (l bigLaplace) draw(c coins) *big.Int {
	for {
		y := bigDrawExponential(c, l.numerator)
		y.Quo(y, l.denominator)
		if negative := c.Bool(); !negative {
			return y
		}
		if y.Sign() > 0 {
			return y.Neg(y)
		}
	}
}

// bigDrawExponential is the reference of drawExponential; it returns U + nV.
func bigDrawExponential(c coins, n *big.Int) *big.Int {
	u := c.BelowBig(n)
	for !bigBernoulliExp(c, u, n) {
		u = c.BelowBig(n)
	}
	sum := new(big.Int).Set(u)
	for bigBernoulliExpOne(c) {
		sum.Add(sum, n)
	}
	return sum
}
