package noise

import "math/big"

// Bernoulli draws with probability exp(−γ), for rational γ, after Canonne, Kamath
// & Steinke 2020, algorithm 1: with A_K ~ Bernoulli(γ/K) for K = 1, 2, …, the
// first K with A_K = 0 is odd with probability exp(−γ), for 0 ≤ γ ≤ 1. As γ is a
// product p₁/q₁ · p₂/q₂, A_K is drawn as the conjunction of independent
// Bernoulli(p₁/q₁), Bernoulli(p₂/q₂) and Bernoulli(1/K), so that no number here
// is larger than those given.
//
// Every function has two forms that read the same bits and return the same
// result: one on 64-bit words, and a reference on integers of any size.

// bernoulliExpOne returns true with probability exp(−1).
func bernoulliExpOne(b *Bits) bool {
	k := uint64(2) // A₁ is certain
	for b.Bernoulli(1, k) {
		k++
	}
	return k&1 == 1
}

// bernoulliExp returns true with probability exp(−p/q), for p ≤ q.
func bernoulliExp(b *Bits, p, q uint64) bool {
	if !b.Bernoulli(p, q) {
		return true
	}
	k := uint64(2)
	for b.Bernoulli(p, q) && b.Bernoulli(1, k) {
		k++
	}
	return k&1 == 1
}

// bernoulliExpProduct returns true with probability exp(−p²/(q₁q₂)), for p at
// most q₁ and q₂.
func bernoulliExpProduct(b *Bits, p, q1, q2 uint64) bool {
	if !b.Bernoulli(p, q1) || !b.Bernoulli(p, q2) {
		return true
	}
	k := uint64(2)
	for b.Bernoulli(p, q1) && b.Bernoulli(p, q2) && b.Bernoulli(1, k) {
		k++
	}
	return k&1 == 1
}

// bernoulliExpSquare returns true with probability exp(−p²/(q₁q₂)), for p below
// 2⁶³ and q₁ and q₂ in [1, 2⁶³): exp(−γ) is the product of k₁k₂ equal factors
// exp(−p/(k₁q₁)·p/(k₂q₂)), with kᵢ = ⌈p/qᵢ⌉.
func bernoulliExpSquare(b *Bits, p, q1, q2 uint64) bool {
	k1, k2 := uint64(1), uint64(1)
	if p > q1 {
		k1 = (p + q1 - 1) / q1
	}
	if p > q2 {
		k2 = (p + q2 - 1) / q2
	}
	for range k1 {
		for range k2 {
			if !bernoulliExpProduct(b, p, k1*q1, k2*q2) {
				return false
			}
		}
	}
	return true
}

// coins is what the reference samplers draw from: [Bits], or in the tests a walk
// through every possible outcome that adds up their exact probabilities.
type coins interface {
	Bool() bool
	BelowBig(n *big.Int) *big.Int
	BernoulliBig(numerator, denominator *big.Int) bool
}

var bigOne = big.NewInt(1)

// bigBernoulliExpOne is the reference of bernoulliExpOne.
func bigBernoulliExpOne(c coins) bool {
	k := big.NewInt(2)
	for c.BernoulliBig(bigOne, k) {
		k.Add(k, bigOne)
	}
	return k.Bit(0) == 1
}

// bigBernoulliExp is the reference of bernoulliExp.
func bigBernoulliExp(c coins, p, q *big.Int) bool {
	if !c.BernoulliBig(p, q) {
		return true
	}
	k := big.NewInt(2)
	for c.BernoulliBig(p, q) && c.BernoulliBig(bigOne, k) {
		k.Add(k, bigOne)
	}
	return k.Bit(0) == 1
}

// bigBernoulliExpProduct is the reference of bernoulliExpProduct.
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

// bigBernoulliExpSquare is the reference of bernoulliExpSquare, for any p ≥ 0.
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
