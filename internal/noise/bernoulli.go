package noise

import "math/big"

// Bernoulli draws with probability exp(−γ), for rational γ, after Canonne, Kamath
// & Steinke 2020, algorithm 1: with A_K ~ Bernoulli(γ/K) for K = 1, 2, …, the
// first K with A_K = 0 is odd with probability exp(−γ), for 0 ≤ γ ≤ 1. As γ/K is a
// product p/q · 1/K, A_K is drawn as the conjunction of independent Bernoulli(p/q)
// and Bernoulli(1/K), so that no number here is larger than those given.

// coins is the source of decisions: [Bits], or in tests a walk through every possible outcome that adds up their
// exact probabilities.
type coins interface {
	Bool() bool
	BelowBig(n *big.Int) *big.Int
	BernoulliBig(numerator, denominator *big.Int) bool
}

var bigOne = big.NewInt(1)

// bigBernoulliExpOne returns true with probability exp(−1).
func bigBernoulliExpOne(c coins) bool {
	k := big.NewInt(2)
	for c.BernoulliBig(bigOne, k) {
		k.Add(k, bigOne)
	}
	return k.Bit(0) == 1
}

// bigBernoulliExp returns true with probability exp(−p/q), for 0 ≤ p ≤ q.
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

// bigBernoulliExpOf returns true with probability exp(−γ), for γ ≥ 0: a factor exp(−1) for every whole one in γ, and
// one for the rest.
func bigBernoulliExpOf(c coins, gamma *big.Rat) bool {
	return bigBernoulliExpAny(c, gamma.Num(), gamma.Denom())
}
