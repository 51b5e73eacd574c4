package noise

import (
	"errors"
	"math/big"
)

// A selection chooses one of n candidates by integer scores of sensitivity Δ. With x_i = λ(max−score_i)
// every candidate is accepted with probability exp(−x_i), a rational exponent,
// so that no floating point occurs and every probability is exact. The scores
// are compared by their distance from the best, which spans 64 unsigned bits.
//
// The time that a selection takes depends on the scores and reveals more than
// the choice: every refused candidate costs a trial. As with noise, the time of a
// single selection must never be shown, and this package does not defend against
// somebody who shares the processor and watches it.

// bigBernoulliExpAny returns true with probability exp(−p/q), exactly, for q > 0
// and p of any size; always for p ≤ 0.
//
// Theorem: Canonne, Kamath & Steinke 2020, algorithm 1: ⌊p/q⌋ factors exp(−1) and
// one of the rest. Fewer than two factors are drawn on average, whatever p/q.
// Argument: docs/proofs/selection.md.
func bigBernoulliExpAny(c coins, p, q *big.Int) bool {
	whole, rest := new(big.Int).QuoRem(p, q, new(big.Int))
	for ; whole.Sign() > 0; whole.Sub(whole, bigOne) {
		if !bigBernoulliExpOne(c) {
			return false
		}
	}
	return bigBernoulliExp(c, rest, q)
}

// ExponentialMechanism returns the index i of one candidate with probability
//
//	P(i) = exp(λ·score_i)/Σ exp(λ·score_j),   λ = ε/2Δ
//
// for the sensitivity Δ; equal scores are equally likely. With monotone, λ = ε/Δ.
//
// Guarantee: given uniform bits the law is exactly this one. The mechanism has
// bounded range ε, so it is ε-differentially private and (ε²/8)-zCDP. Neighbours:
// every pair between which no score changes by more than Δ; and with monotone,
// only if all scores that change go the same way, as where one unit more can only
// raise scores. Theorem: McSherry & Talwar 2007, theorem 6; Durfee & Rogers 2019,
// for the bounded range; Cesar & Rogers 2021, lemma 3.2, for ρ. Argument:
// docs/proofs/selection.md.
//
// It draws a candidate and accepts it or draws again: less than n times on
// average for n candidates, n times if all but one are hopeless. It returns −1
// and an error for no scores, and for an ε or Δ that is not positive.
func ExponentialMechanism(b *Bits, scores []int64, epsilon *big.Rat, sensitivity int64, monotone bool) (int, error) {
	s, err := newSelection(scores, epsilon, sensitivity, monotone)
	if err != nil {
		return -1, err
	}
	return s.chooseExponential(b), nil
}

// selection is the input of the mechanism: λ = numerator/denominator.
type selection struct {
	scores                 []int64
	best                   int64
	numerator, denominator *big.Int
}

func newSelection(scores []int64, epsilon *big.Rat, sensitivity int64, monotone bool) (selection, error) {
	if len(scores) == 0 {
		return selection{}, errors.New("there is nothing to select from: give at least one candidate")
	}
	if epsilon == nil || epsilon.Sign() <= 0 {
		return selection{}, errors.New("the epsilon of a selection must be positive")
	}
	if sensitivity <= 0 {
		return selection{}, errors.New("the sensitivity of the scores must be positive")
	}
	s := selection{scores: scores, best: scores[0], numerator: epsilon.Num(), denominator: big.NewInt(sensitivity)}
	if !monotone {
		s.denominator.Lsh(s.denominator, 1)
	}
	s.denominator.Mul(s.denominator, epsilon.Denom())
	for _, score := range scores {
		s.best = max(s.best, score)
	}
	return s, nil
}

// acceptsCandidate returns true with probability exp(−λ(best−score_i)).
func (s selection) acceptsCandidate(c coins, i int) bool {
	gap := uint64(s.best) - uint64(s.scores[i]) // exact: 0 ≤ best−score_i < 2⁶⁴
	p := new(big.Int).SetUint64(gap)
	return bigBernoulliExpAny(c, p.Mul(p, s.numerator), s.denominator)
}

// chooseExponential tries candidates, each equally likely, until one is accepted.
func (s selection) chooseExponential(c coins) int {
	for {
		if i, accepted := s.tryCandidate(c); accepted {
			return i
		}
	}
}

// tryCandidate draws one candidate, and whether it is accepted.
func (s selection) tryCandidate(c coins) (i int, accepted bool) {
	i = uniformIndex(c, len(s.scores))
	return i, s.acceptsCandidate(c, i)
}

// uniformIndex returns a uniform index in [0, n).
func uniformIndex(c coins, n int) int { return int(c.BelowBig(big.NewInt(int64(n))).Int64()) }
