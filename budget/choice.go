package budget

import (
	"math"
	"math/big"
)

// Shortfall returns how far the score of one choice may lie below the best: a margin that the gap exceeds with at most
// this probability, whatever the scores are, and an upper bound of that probability. Candidates is their number. Moves
// is how far apart the changes of two scores can be between neighbours: twice their sensitivity, or once if the scores
// are monotone. With λ = ε/moves and N candidates, the probability that the gap exceeds m is
//
//	P ≤ B/(1+B)   for the exponential mechanism,   B = (N−1)·exp(−λ(m+1)),
//	P ≤ B/2       for permute-and-flip,
//
// and data for which all but the best lie m+1 below it attain the first bound. Source: McSherry & Talwar 2007, theorem
// 8, with the best candidate kept in the sum; McKenna & Sheldon 2020, proposition 4. Argument: docs/proofs/topk.md.
//
// A probability of 0 or less has no margin and gives (2^63−1, 0). Another kind of mechanism, no candidates or no moves
// give (0, 0).
func (m Mechanism) Shortfall(candidates int64, moves *big.Int, probability float64) (margin int64, exceeded float64) {
	if m.Kind != ExponentialMechanism && m.Kind != PermuteAndFlip || m.Validate() != nil || candidates <= 0 ||
		moves == nil || moves.Sign() <= 0 {
		return 0, 0
	}
	if !(probability > 0) {
		return math.MaxInt64, 0
	}
	lambda := roundDown(new(big.Rat).Quo(m.Parameter, new(big.Rat).SetInt(moves)))
	others := raisedBy(float64(candidates-1), 1)
	bound := func(gap float64) float64 {
		all := raisedBy(float64(others*Exp(-float64(lambda*gap))), 16)
		if m.Kind == PermuteAndFlip {
			return all / 2
		}
		return raisedBy(all/(1+all), 4)
	}
	least := Log(float64(others/2) / probability)
	if m.Kind == ExponentialMechanism {
		least = Log(float64(others*(1-probability)) / probability)
	}
	gap, exceeded := leastWithin(bound, probability, least/lambda)
	if gap == math.MaxInt64 {
		return gap, 0
	}
	return gap - 1, exceeded
}
