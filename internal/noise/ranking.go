package noise

import (
	"errors"
	"math"
	"math/big"
	"math/bits"
	"sort"
)

// This file chooses among very many candidates, many of which have the same score, such as the cells of a table without
// rows: by the exponential mechanism and by permute-and-flip, without visiting candidates of equal score one by one.
//
// The time that a choice takes depends on the scores, like the time of a selection: it must never be shown.

// Class is candidates with the same score. No two classes of a ranking have the same score.
type Class struct {
	Score      int64
	Candidates uint64
}

// Ranking is candidates by their scores. They are chosen, and removed, one after another.
type Ranking struct {
	classes []Class
	rule    rule
	lambda  *big.Rat // ε/2Δ, or ε/Δ for monotone scores
	limits  []wide   // at a gap of limits[k] or more exp(−λ·gap) ≤ 2^−k
	best    int64    // best score that was left when known was computed
	known   []run    // the classes as runs of the candidates that are left, nil at first
}

// rule is a law of choice.
type rule func(r *Ranking, c coins, word uint) (class int, place uint64)

// mostCandidates keeps sums of weights below 2¹²⁷.
const mostCandidates = uint64(1) << 62

// NewExponential returns a ranking from which each choice has the law of [ExponentialMechanism] among the candidates
// that are left: P(i) ∝ exp(λ·score_i), with λ = ε/2Δ, or ε/Δ for monotone scores.
//
// Guarantee, neighbours and theorem: of each choice those of [ExponentialMechanism]; k of them one after the other are
// k such mechanisms, each of which sees what was chosen before. Argument: docs/proofs/topk.md.
//
// It returns an error for an ε or Δ that is not positive, for no candidates, or more than 2⁶², and for classes that do
// not descend in their scores.
func NewExponential(classes []Class, epsilon *big.Rat, sensitivity *big.Int, monotone bool) (*Ranking, error) {
	return newRanking(classes, epsilon, sensitivity, monotone, (*Ranking).drawExponential)
}

// NewPermuteAndFlip returns a ranking from which each choice is that of the first candidate, in a random order of those
// that are left, that is accepted with probability p_i = exp(−λ(max−score_i)), λ = ε/2Δ, or ε/Δ for monotone scores:
//
//	P(i) = ∫₀¹ p_i·Π_{j≠i} (1−t·p_j) dt
//
// A low score is never likelier than by [NewExponential] with the same ε. That one costs a quarter of the ρ; so this
// one is for a budget in pure ε.
//
// Guarantee: given uniform bits the law is exactly this one. A choice is ε-differentially private, so (ε²/2)-zCDP; no
// event tells neighbours apart better than one could with Laplace noise of scale Δ/ε on a number of sensitivity Δ. It
// does not have bounded range ε. Neighbours: as for [ExponentialMechanism]. k choices one after the other are k such
// mechanisms, each of which sees what was chosen before. Theorem: McKenna & Sheldon 2020; Ding et al. 2021, that the
// law is that of the best score after adding exponential noise. Argument: docs/proofs/selection.md and
// docs/proofs/topk.md.
//
// It returns an error where [NewExponential] does.
func NewPermuteAndFlip(classes []Class, epsilon *big.Rat, sensitivity *big.Int, monotone bool) (*Ranking, error) {
	return newRanking(classes, epsilon, sensitivity, monotone, (*Ranking).permuteAndFlip)
}

func newRanking(classes []Class, epsilon *big.Rat, sensitivity *big.Int, monotone bool, by rule) (*Ranking, error) {
	if epsilon == nil || epsilon.Sign() <= 0 {
		return nil, errors.New("the epsilon of a selection must be positive")
	}
	if sensitivity == nil || sensitivity.Sign() <= 0 {
		return nil, errors.New("the sensitivity of the scores must be positive")
	}
	r := &Ranking{rule: by}
	left := uint64(0)
	for i, class := range classes {
		if i > 0 && class.Score >= classes[i-1].Score {
			return nil, errors.New("the classes of a selection must descend in their scores")
		}
		if class.Candidates > mostCandidates-left {
			return nil, errors.New("a selection must have no more than 2⁶² candidates")
		}
		left += class.Candidates
		r.classes = append(r.classes, class)
	}
	if left == 0 {
		return nil, errors.New("there is nothing to select from: give at least one candidate")
	}
	moves := new(big.Rat).SetInt(sensitivity)
	if !monotone {
		moves.Add(moves, moves)
	}
	r.lambda = moves.Quo(epsilon, moves)
	r.limits = halvingDistances(r.lambda, depthOfWeights)
	return r, nil
}

// Take chooses a candidate and removes it. It returns the class of its score, among the classes from which the
// ranking was made, and its index among the candidates that the class still has, each equally likely. It returns −1
// if no candidate is left.
func (r *Ranking) Take(b *Bits) (class int, place uint64) { return r.takeCandidate(b, bitsAtATime) }

func (r *Ranking) takeCandidate(c coins, word uint) (class int, place uint64) {
	if r.candidatesLeft() == 0 {
		return -1, 0
	}
	class, place = r.rule(r, c, word)
	r.classes[class].Candidates--
	r.known[class].length--
	return class, place
}

// candidatesLeft returns how many candidates are left.
func (r *Ranking) candidatesLeft() uint64 {
	n := uint64(0)
	for _, class := range r.classes {
		n += class.Candidates
	}
	return n
}

// currentRuns returns the classes as runs of candidates at a distance: the distance of their scores from the best
// score that is left. They are computed anew when that score changes.
func (r *Ranking) currentRuns() []run {
	best := r.best
	for _, class := range r.classes {
		if class.Candidates > 0 {
			best = class.Score
			break
		}
	}
	if r.known != nil && r.best == best {
		return r.known
	}
	r.best, r.known = best, make([]run, len(r.classes))
	q, k := &rankedRuns{limits: r.limits}, 0
	for i, class := range r.classes {
		if class.Candidates == 0 {
			continue
		}
		gap := wide{0, uint64(best) - uint64(class.Score)} // exact: 0 ≤ best − score < 2⁶⁴
		k = q.halvingsOf(gap, k)
		r.known[i] = run{length: class.Candidates, distance: gap, halvings: k}
	}
	return r.known
}

// keepsRun returns true with probability 2^k·exp(−λd), at most 1, for the distance d of a run and its k.
func (r *Ranking) keepsRun(c coins, of run, word uint) bool {
	return (&rankedRuns{lambda: r.lambda}).keepsRun(c, of, word)
}

// drawExponential draws a class by integer weights, n·2^(depth−k) for n candidates with 2^−k ≥ exp(−λd), and keeps it
// with probability 2^k·exp(−λd), or draws again: fewer than four times on average.
func (r *Ranking) drawExponential(c coins, word uint) (class int, place uint64) {
	runs, depth := r.currentRuns(), len(r.limits)-1
	ends, total := make([]wide, len(runs)), wide{}
	for i, of := range runs {
		total = total.plus(of.weight(depth))
		ends[i] = total
	}
	all := total.big()
	for {
		at := wideOf(c.BelowBig(all))
		class := sort.Search(len(ends), func(i int) bool { return at.below(ends[i]) })
		of := runs[class]
		within := at.minus(ends[class].minus(of.weight(depth)))
		if r.keepsRun(c, of, word) {
			return class, within.shifted(uint(depth - of.halvings)).lo
		}
	}
}

const (
	// trialsOneByOne is how many candidates are tried one by one before all that are left are decided at once.
	trialsOneByOne = 1 << 12
	// mostPassed is how many classes these trials may pass.
	mostPassed = 1 << 24
	// mostAccepted is the most candidates that may be accepted if all are decided at once. If there are more, trials
	// continue until one is accepted.
	mostAccepted = 1 << 34
)

// permuteAndFlip tries candidates in a random order, accepts each with probability exp(−λd), and returns the first
// that is accepted. After some refusals, it decides for all that are left which of them are accepted; each of those
// is equally likely to come first. The number of refusals after which it does so depends on the classes alone.
func (r *Ranking) permuteAndFlip(c coins, word uint) (class int, place uint64) {
	mayBe := uint64(0)
	for _, of := range r.currentRuns() {
		mayBe += of.length >> of.halvings
	}
	if mayBe > mostAccepted {
		return r.permuteAndFlipAfter(c, word, math.MaxInt)
	}
	return r.permuteAndFlipAfter(c, word, min(trialsOneByOne, mostPassed/len(r.classes)))
}

func (r *Ranking) permuteAndFlipAfter(c coins, word uint, trials int) (class int, place uint64) {
	runs := r.currentRuns()
	untried, left := make([]uint64, len(runs)), uint64(0)
	for i, of := range runs {
		untried[i] = of.length
		left += of.length
	}
	for range trials {
		class := drawClass(c, untried, left)
		if r.acceptsRun(c, runs[class], word) {
			return class, drawBelow(c, runs[class].length) // all candidates of a class are equally likely
		}
		untried[class]--
		left--
	}
	accepted, all := untried, uint64(0)
	for i, of := range runs {
		accepted[i] = r.countAccepted(c, of, untried[i], word)
		all += accepted[i]
	}
	class = drawClass(c, accepted, all) // the best candidates are always accepted
	return class, drawBelow(c, runs[class].length)
}

// acceptsRun returns true with probability exp(−λd).
func (r *Ranking) acceptsRun(c coins, of run, word uint) bool {
	for range of.halvings {
		if !c.Bool() {
			return false
		}
	}
	return r.keepsRun(c, of, word)
}

// mostThinned is the most candidates for which bits are drawn individually.
const mostThinned = 1 << 18

// countAccepted returns how many of n candidates at the distance of a run are accepted, each with probability
// exp(−λd), independently. Each must have k bits set, and those that do are kept with probability 2^k·exp(−λd). For
// very many candidates, most of which are refused, the number of successes among many trials at once is drawn by the
// binomial law.
func (r *Ranking) countAccepted(c coins, of run, n uint64, word uint) uint64 {
	all := uint64(0)
	if n > mostThinned && of.halvings > 0 {
		if b, ok := c.(*Bits); ok {
			all, n = r.countSuccesses(b, of, n)
		}
	}
	for k := 0; k < of.halvings && n > 0; k++ {
		n = countHeads(c, n, word)
	}
	if of.distance == (wide{}) {
		return all + n
	}
	for range n {
		if r.keepsRun(c, of, word) {
			all++
		}
	}
	return all
}

// countSuccesses returns how many of the first of n candidates at the distance of a run are accepted, in batches of
// powers of two, and how many are left undecided: mostThinned or fewer.
func (r *Ranking) countSuccesses(b *Bits, of run, n uint64) (all, rest uint64) {
	x := new(big.Rat).SetInt(of.distance.big())
	x.Mul(x, r.lambda)
	success := func(precision uint) *enclosure { return expNeg(x, precision) }
	for size := trialBitsOf(success); n > mostThinned; {
		for n>>size == 0 {
			size--
		}
		law := newBinomial(size, success)
		for ; n > mostThinned && n>>size > 0; n -= 1 << size {
			all += law.drawCount(b)
		}
	}
	return all, n
}

// countHeads returns how many of n fair coins show heads.
func countHeads(c coins, n uint64, word uint) uint64 {
	heads := uint64(0)
	for n > 0 {
		m := min(n, uint64(word))
		heads += uint64(bits.OnesCount64(drawBelow(c, 1<<m)))
		n -= m
	}
	return heads
}

// drawClass returns a class with probability proportional to its number of candidates.
func drawClass(c coins, candidates []uint64, all uint64) int {
	at := drawBelow(c, all)
	for i, n := range candidates {
		if at < n {
			return i
		}
		at -= n
	}
	panic("noise: the candidates of all classes are as many as they are")
}

// drawBelow returns a uniform number in [0, n).
func drawBelow(c coins, n uint64) uint64 { return c.BelowBig(new(big.Int).SetUint64(n)).Uint64() }
