// Package adaptive says what the rounds of an adaptive method may do.
//
// It owns the sets of columns among which the rounds choose, what each round measures of its choice, and what it may
// spend of the block that the plan's loss has for all of them. All of it follows from the [plan.Synthetic] of a plan,
// which fixes it before any row is read.
//
// It never makes a choice, and never sees a count or an answer: package histogram keeps the rounds to it, and package
// synth chooses within it.
package adaptive

import (
	"math"
	"math/big"
	"slices"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
)

// This file holds what rounds cost, and what bounds them.

// ModelScale is the denominator of the counts that a method's model expects: multiples of 1/ModelScale, so that the
// deviation of exact counts from them is an integer.
const ModelScale = 1 << 10

// The approximate memory of the rounds, in bytes: of each cell of a candidate, for its counts, exact, by class and as
// the model expects them; of each candidate, for its question and the plan of its counting; of each cell that the
// model may have, four numbers; and of each integer that it is fitted to, nine.
const (
	bytesPerCandidateCell = 24
	bytesPerCandidate     = 1 << 10
	bytesPerModelCell     = 32
	bytesPerAnswer        = 72
)

// Memory returns approximately the bytes that the rounds need, given the cells of each candidate, by category: no
// more than 2^63−1.
func Memory(s plan.Synthetic, candidates []int64) int64 {
	total, each := new(big.Int), new(big.Int)
	add := func(n, bytes int64) { total.Add(total, each.Mul(big.NewInt(n), big.NewInt(bytes))) }
	for _, cells := range candidates {
		add(cells, bytesPerCandidateCell)
		add(1, bytesPerCandidate)
	}
	if s.LargestModel != nil { // an answer of MST has the place of what its pair was expected to be
		add(max(s.LargestModel.Cells, 0), bytesPerModelCell)
		add(MostAnswers(s, candidates), bytesPerAnswer)
	}
	if !total.IsInt64() {
		return math.MaxInt64
	}
	return total.Int64()
}

// MostAnswers returns approximately how many integers the rounds answer at most, given the cells of each candidate:
// for [plan.MST], its largest pairs; for [plan.AIM], which may measure a candidate repeatedly, twice the cells of the
// largest model plus one answer of its largest size, or no more than the largest candidate in every round.
func MostAnswers(s plan.Synthetic, candidates []int64) int64 {
	cells := slices.Sorted(slices.Values(candidates))
	if len(cells) == 0 {
		return 0
	}
	if s.LargestModel != nil {
		largest := min(cells[len(cells)-1], s.LargestModel.Largest)
		return min(largest*int64(s.Rounds), 2*s.LargestModel.Cells+s.LargestModel.Largest)
	}
	all := int64(0)
	for _, n := range cells[max(0, len(cells)-s.Rounds):] {
		all += n
	}
	return all
}

// DefaultRoundColumns is how many columns [plan.AIM] measures together at most, if the spec does not say.
const DefaultRoundColumns = 3

// MaxModelSize returns the largest size of the model of [plan.AIM], and of the tree by [plan.Tables]. A model of 2^19
// cells, of 8 bytes each, is fitted in seconds; four times as many have been seen to make rows 3% better in twice the
// time, and only where ε is 10.
func MaxModelSize() plan.ModelSize { return plan.ModelSize{Cells: 1 << 19, Largest: 1 << 18} }

// MaxCandidates bounds the sets of columns that a method chooses among.
const MaxCandidates = 100_000

// Block returns the mechanism that stands for rounds that each make a choice and measure what they chose: ρ =
// rounds·(ε²/8 + ρ of the noise).
//
// Guarantee: all rounds together are ρ-zCDP, also where each asks what the answers before it suggest. Neighbours:
// those of choice and noise. Theorem: Bun & Steinke 2016, lemma 2.3. Argument: docs/proofs/adaptive.md.
func Block(rounds int, choice, noise budget.Mechanism) budget.Mechanism {
	rho := new(big.Rat).Add(choice.Rho(), noise.Rho())
	return budget.Mechanism{Kind: budget.AdaptiveBlock, Parameter: rho.Mul(rho, big.NewRat(int64(rounds), 1))}
}
