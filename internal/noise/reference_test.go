package noise

import "math/big"

// This file is the reference: the samplers of Canonne, Kamath & Steinke 2020 on
// integers of any size, which share nothing with the ones in use but the bits.

// bigGaussian is algorithm 3: a discrete Laplace draw of integer scale ⌊σ⌋+1,
// accepted with the probability that makes it Gaussian.
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

// bigLaplace is algorithm 2: with n/d the scale, U+nV has P(v) ∝ exp(−v/n) over
// v ≥ 0, so that ⌊(U+nV)/d⌋ has P(y) ∝ exp(−y·d/n). A fair sign makes it two-sided;
// minus zero is drawn again.
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

// bigDrawExponential returns U + nV: U in [0, n) with P(u) ∝ exp(−u/n), and an
// independent V ≥ 0 with P(v) ∝ exp(−v).
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

// bigBernoulliExpProduct returns true with probability exp(−p²/(q₁q₂)), for p at
// most q₁ and q₂: A_K is the conjunction of Bernoulli(p/q₁), Bernoulli(p/q₂) and
// Bernoulli(1/K).
func bigBernoulliExpProduct(c coins, p, q1, q2 *big.Int) bool {
	if !c.BernoulliBig(p, q1) || !c.BernoulliBig(p, q2) {
		return true
	}
	k := big.NewInt(2)
	for c.BernoulliBig(p, q1) && c.BernoulliBig(p, q2) && c.BernoulliBig(bigOne, k) {
		k.Add(k, bigOne)
	}
	return k.Bit(0) == 1
}

// bigBernoulliExpSquare returns true with probability exp(−p²/(q₁q₂)), for any
// p ≥ 0: exp(−γ) is the product of k₁k₂ equal factors exp(−p/(k₁q₁)·p/(k₂q₂)), with
// kᵢ = ⌈p/qᵢ⌉.
func bigBernoulliExpSquare(c coins, p, q1, q2 *big.Int) bool {
	k1, k2 := ceilQuotient(p, q1), ceilQuotient(p, q2)
	q1, q2 = new(big.Int).Mul(q1, k1), new(big.Int).Mul(q2, k2)
	for i := new(big.Int); i.Cmp(k1) < 0; i.Add(i, bigOne) {
		for j := new(big.Int); j.Cmp(k2) < 0; j.Add(j, bigOne) {
			if !bigBernoulliExpProduct(c, p, q1, q2) {
				return false
			}
		}
	}
	return true
}

// ceilQuotient returns ⌈p/q⌉, at least 1.
func ceilQuotient(p, q *big.Int) *big.Int {
	k, rest := new(big.Int).QuoRem(p, q, new(big.Int))
	if rest.Sign() > 0 || k.Sign() == 0 {
		k.Add(k, bigOne)
	}
	return k
}
