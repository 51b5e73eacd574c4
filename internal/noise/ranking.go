package noise

import (
	"errors"
	"math"
	"math/big"
	"math/bits"
	"sort"
)

// This file chooses among very many candidates of which many have one score, such as the cells of a table that hold
// nothing: by the exponential mechanism and by permute-and-flip, without visiting those of one score one by one.
//
// How long a choice takes depends on the scores, as that of a selection does: the time of a single choice is never
// shown.

// Class is candidates of one score. No two classes of a ranking have the same.
type Class struct {
	Score      int64
	Candidates uint64
}

// Ranking is candidates by their scores, from which one after the other is chosen and taken out.
type Ranking struct {
	classes []Class
	rule    rule
	lambda  *big.Rat // ε/2Δ, or ε/Δ for monotone scores
	limits  []wide   // at a gap of limits[k] or more exp(−λ·gap) ≤ 2^−k
	best    int64    // of those that were left when known was worked out
	known   []run    // the classes as candidates that are left, nil at first
}

// rule is a law to choose by.
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
	return newRanking(classes, epsilon, sensitivity, monotone, (*Ranking).exponential)
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
// law is that of the best score after adding exponential noise. Argument: docs/proofs/selection.md, docs/proofs/topk.md.
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
	r.limits = halvings(r.lambda, depthOfWeights)
	return r, nil
}

// Take chooses a candidate and takes it out: the class of its score, among those that the ranking was made of, and
// which of those that the class still has, counted from 0, each as likely as any other. It returns −1 where none is
// left.
func (r *Ranking) Take(b *Bits) (class int, place uint64) { return r.take(b, bitsAtATime) }

func (r *Ranking) take(c coins, word uint) (class int, place uint64) {
	if r.left() == 0 {
		return -1, 0
	}
	class, place = r.rule(r, c, word)
	r.classes[class].Candidates--
	r.known[class].length--
	return class, place
}

// left is how many candidates are.
func (r *Ranking) left() uint64 {
	n := uint64(0)
	for _, class := range r.classes {
		n += class.Candidates
	}
	return n
}

// runs are the classes as candidates at a distance: that of their scores from the best that is left. They are worked
// out anew where that is another than before.
func (r *Ranking) runs() []run {
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
	q, k := &ranked{limits: r.limits}, 0
	for i, class := range r.classes {
		if class.Candidates == 0 {
			continue
		}
		gap := wide{0, uint64(best) - uint64(class.Score)} // exact: 0 ≤ best − score < 2⁶⁴
		k = q.halve(gap, k)
		r.known[i] = run{length: class.Candidates, distance: gap, halvings: k}
	}
	return r.known
}

// keeps returns true with probability 2^k·exp(−λd), at most 1, for the distance d of a run and its k.
func (r *Ranking) keeps(c coins, of run, word uint) bool {
	return (&ranked{lambda: r.lambda}).keeps(c, of, word)
}

// exponential draws a class by integer weights, n·2^(depth−k) for n candidates with 2^−k ≥ exp(−λd), and keeps it with
// probability 2^k·exp(−λd), or draws again: fewer than four times on average.
func (r *Ranking) exponential(c coins, word uint) (class int, place uint64) {
	runs, depth := r.runs(), len(r.limits)-1
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
		if r.keeps(c, of, word) {
			return class, within.shifted(uint(depth - of.halvings)).lo
		}
	}
}

const (
	// trialsOneByOne is how many candidates are tried one by one before all that are left are decided on at once.
	trialsOneByOne = 1 << 12
	// mostPassed is how many classes may be passed by these trials.
	mostPassed = 1 << 24
	// mostAccepted is of how many that may be accepted it is decided at once; where there are more, trials go on until one
	// is.
	mostAccepted = 1 << 34
)

// permuteAndFlip tries candidates in a random order, each of which is accepted with probability exp(−λd), and returns
// the first that is. After some that were refused, it is decided for all that are left which of them are accepted; of
// those, one is as likely as any other to come first. After how many depends on the classes alone.
func (r *Ranking) permuteAndFlip(c coins, word uint) (class int, place uint64) {
	mayBe := uint64(0)
	for _, of := range r.runs() {
		mayBe += of.length >> of.halvings
	}
	if mayBe > mostAccepted {
		return r.permuteAndFlipAfter(c, word, math.MaxInt)
	}
	return r.permuteAndFlipAfter(c, word, min(trialsOneByOne, mostPassed/len(r.classes)))
}

func (r *Ranking) permuteAndFlipAfter(c coins, word uint, trials int) (class int, place uint64) {
	runs := r.runs()
	untried, left := make([]uint64, len(runs)), uint64(0)
	for i, of := range runs {
		untried[i] = of.length
		left += of.length
	}
	for range trials {
		class := drawn(c, untried, left)
		if r.accepts(c, runs[class], word) {
			return class, below(c, runs[class].length) // of one class, none is likelier than another
		}
		untried[class]--
		left--
	}
	accepted, all := untried, uint64(0)
	for i, of := range runs {
		accepted[i] = r.accepted(c, of, untried[i], word)
		all += accepted[i]
	}
	class = drawn(c, accepted, all) // the best are always accepted
	return class, below(c, runs[class].length)
}

// accepts returns true with probability exp(−λd).
func (r *Ranking) accepts(c coins, of run, word uint) bool {
	for range of.halvings {
		if !c.Bool() {
			return false
		}
	}
	return r.keeps(c, of, word)
}

// mostThinned is of how many candidates bits are drawn for each.
const mostThinned = 1 << 18

// accepted is how many of n candidates at the distance of a run are accepted, each with probability exp(−λd),
// independently: of each a bit must be set, k times, and what then is left is kept with probability 2^k·exp(−λd). Of
// very many, most of which are refused, so many trials at a time succeed as the binomial law says.
func (r *Ranking) accepted(c coins, of run, n uint64, word uint) uint64 {
	all := uint64(0)
	if n > mostThinned && of.halvings > 0 {
		if b, ok := c.(*Bits); ok {
			all, n = r.succeed(b, of, n)
		}
	}
	for k := 0; k < of.halvings && n > 0; k++ {
		n = halved(c, n, word)
	}
	if of.distance == (wide{}) {
		return all + n
	}
	for range n {
		if r.keeps(c, of, word) {
			all++
		}
	}
	return all
}

// succeed is how many of the first of n candidates at the distance of a run are accepted, in lots of powers of two, and
// how many are left undecided: mostThinned or fewer.
func (r *Ranking) succeed(b *Bits, of run, n uint64) (all, rest uint64) {
	x := new(big.Rat).SetInt(of.distance.big())
	x.Mul(x, r.lambda)
	success := func(precision uint) *enclosure { return expNeg(x, precision) }
	for size := trialBitsOf(success); n > mostThinned; {
		for n>>size == 0 {
			size--
		}
		law := newBinomial(size, success)
		for ; n > mostThinned && n>>size > 0; n -= 1 << size {
			all += law.draw(b)
		}
	}
	return all, n
}

// halved is how many of n fair coins show heads.
func halved(c coins, n uint64, word uint) uint64 {
	heads := uint64(0)
	for n > 0 {
		m := min(n, uint64(word))
		heads += uint64(bits.OnesCount64(below(c, 1<<m)))
		n -= m
	}
	return heads
}

// drawn is a class, as likely as it has candidates among all.
func drawn(c coins, candidates []uint64, all uint64) int {
	at := below(c, all)
	for i, n := range candidates {
		if at < n {
			return i
		}
		at -= n
	}
	panic("noise: the candidates of all classes are as many as they are")
}

// below is a uniform number in [0, n).
func below(c coins, n uint64) uint64 { return c.BelowBig(new(big.Int).SetUint64(n)).Uint64() }
