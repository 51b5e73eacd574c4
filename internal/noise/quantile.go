package noise

import (
	"encoding/binary"
	"errors"
	"math/big"
	"math/bits"
	"sort"
)

// This file draws quantiles by the exponential mechanism over all integers of a range. They are too many to be tried
// one by one, but all integers between two values that occur have the same score. So a run of candidates is drawn, and
// then a candidate within it.
//
// A run of ℓ candidates at distance d from the asked rank weighs ℓ·exp(−λd). It gets the integer weight ℓ·2^(depth−k)
// first, for a k with 2^−k ≥ exp(−λd), and what was drawn by those weights is kept with probability 2^k·exp(−λd),
// nearly always above one half. Both are exact: the first is a comparison of integers, the second one of a uniform
// number, drawn bit by bit as far as it matters, with an enclosure of exp(−λd).
//
// The time that a draw takes depends on the data, like the time of a selection: it must never be shown.

// Quantile draws an integer y of [first, last] with probability
//
//	P(y) ∝ exp(−ε·u(y)/2Δ),   Δ = max(num, den−num),
//
// where u(y) ≥ 0 is den times the distance of the rank num/den·n + shift/den from the ranks that y has among the n
// values, from #{x < y} to #{x ≤ y}: an integer. So u is 0 for every y that is a num/den-quantile by any definition,
// where shift is 0. The values are given as the places where they lie, in ascending order, and how many lie there, or
// their weights.
//
// Guarantee: given uniform bits the law is exactly this one. A value that is added or removed moves every u by at most
// Δ, one that is replaced by at most den. So the choice has bounded range k·ε where k values are added or removed, and
// is kε-differentially private and ((kε)²/8)-zCDP; where k are replaced, the same with k·den/Δ in place of k.
// Neighbours: data sets that differ so, for first, last, num, den, shift and ε that do not depend on the data. Theorem:
// McSherry & Talwar 2007, theorem 6, with the score of Smith 2011, section 3.1, and Durfee & Rogers 2019, for the
// bounded range; Cesar & Rogers 2021, lemma 3.2. Argument: docs/proofs/quantile.md.
//
// It goes through the places once, and then makes fewer than four trials on average, mostly one or two; how long the
// range is does not matter. It returns an error for an ε that is not positive, a share outside [0, 1], places that are
// not ascending or outside [first, last], counts below 0 or of 2⁶³ and more in all, a den of 2³² or more, and a range
// of more than 2⁶³ integers.
func Quantile(b *Bits, places, counts []int64, first, last, num, den, shift int64, epsilon *big.Rat) (int64, error) {
	q, err := newRankedRuns(places, counts, first, last, num, den, shift, epsilon)
	if err != nil {
		return 0, err
	}
	q.setWeights(depthOfWeights)
	for {
		if offset, kept := q.tryCandidate(b, bitsAtATime); kept {
			return int64(uint64(first) + offset), nil
		}
	}
}

const (
	// depthOfWeights is the number of bits of the integer weight of a candidate at distance 0. Of the 2⁶³ possible
	// candidates, all those with negligible weight together weigh no more than that one.
	depthOfWeights = 64
	// bitsAtATime is how many bits of a uniform number are drawn before it is compared.
	bitsAtATime = 32
	// mostDenominator keeps distances below 2⁹⁵.
	mostDenominator = 1<<32 - 1
)

// rankedRuns is the candidates of a quantile by their distances from the asked rank.
type rankedRuns struct {
	places, counts []int64
	first          int64
	length         uint64   // number of candidates
	den            uint64   // ranks are counted in parts of 1/den
	rank           wide     // the asked rank, clamped to [0, den·n]
	lambda         *big.Rat // ε/2Δ
	limits         []wide   // at a distance of limits[k] or more exp(−λd) ≤ 2^−k
	marks          []mark
	total          wide // sum of all weights
}

func newRankedRuns(places, counts []int64, first, last, num, den, shift int64, epsilon *big.Rat) (*rankedRuns, error) {
	switch {
	case epsilon == nil || epsilon.Sign() <= 0:
		return nil, errors.New("the epsilon of a quantile must be positive")
	case den <= 0 || num < 0 || num > den:
		return nil, errors.New("the share of a quantile must lie between 0 and 1")
	case den > mostDenominator:
		return nil, errors.New("the share of a quantile must have a denominator below 2³²")
	case first > last || last-first < 0:
		return nil, errors.New("a quantile needs a range of between 1 and 2⁶³ integers")
	}
	n, err := checkPlaces(places, counts, first, last)
	if err != nil {
		return nil, err
	}
	sensitivity := new(big.Int).Lsh(big.NewInt(max(num, den-num)), 1)
	q := &rankedRuns{
		places: places, counts: counts, first: first, length: uint64(last-first) + 1, den: uint64(den),
		lambda: new(big.Rat).Quo(epsilon, new(big.Rat).SetInt(sensitivity)),
		rank:   multiplyWide(uint64(num), n),
	}
	// The distance of every y from a rank beyond 0 or den·n is its distance from that end plus a constant.
	end := multiplyWide(uint64(den), n)
	if shift >= 0 {
		if q.rank = q.rank.plus(wide{0, uint64(shift)}); end.below(q.rank) {
			q.rank = end
		}
	} else if back := (wide{0, -uint64(shift)}); q.rank.below(back) {
		q.rank = wide{}
	} else {
		q.rank = q.rank.minus(back)
	}
	return q, nil
}

// checkPlaces returns the sum of the counts.
func checkPlaces(places, counts []int64, first, last int64) (uint64, error) {
	if len(places) != len(counts) {
		return 0, errors.New("every place of a quantile needs a count")
	}
	n := int64(0)
	for i, place := range places {
		if place < first || place > last || i > 0 && place <= places[i-1] {
			return 0, errors.New("the places of a quantile must ascend within its range")
		}
		if counts[i] < 0 {
			return 0, errors.New("the counts of a quantile must not be negative")
		}
		if n += counts[i]; n < 0 {
			return 0, errors.New("the counts of a quantile must be below 2⁶³ in all")
		}
	}
	return uint64(n), nil
}

// logOfTwo is above ln 2, by less than 10⁻¹⁸.
var logOfTwo = big.NewRat(693147180559945310, 1e18)

// halvingDistances returns, for k = 0 … depth, a distance of at least k·ln 2/λ, less than one above k·logOfTwo/λ +
// 2⁻⁵⁰, or one beyond all distances.
func halvingDistances(lambda *big.Rat, depth int) []wide {
	fraction := uint(57) // with 6 bits of k and 64 of the rest they fill a wide
	step := quotientUp(logOfTwo, lambda, fraction)
	if step.BitLen() > mostStepBits {
		fraction, step = 0, quotientUp(logOfTwo, lambda, 0)
	}
	if step.BitLen() > mostStepBits {
		step.Lsh(bigOne, mostStepBits)
	}
	each, sum := wideOf(step), wide{0, 1<<fraction - 1}
	limits := make([]wide, depth+1)
	for k := 1; k <= depth; k++ {
		sum = sum.plus(each)
		limits[k] = sum.shifted(fraction)
	}
	return limits
}

// mostStepBits is more than a distance has: those are below 2³²·2⁶³.
const mostStepBits = 121

// quotientUp returns x/y·2ⁿ rounded up.
func quotientUp(x, y *big.Rat, n uint) *big.Int {
	f := fixedPoint{precision: n}
	hi := new(big.Int).Mul(x.Num(), y.Denom())
	hi.Lsh(hi, n)
	f.quoRoundUp(hi, new(big.Int).Mul(x.Denom(), y.Num()))
	return hi
}

// run is candidates of equal distance: length of them, beginning at an offset from first.
type run struct {
	offset, length uint64
	distance       wide
	halvings       int // k
}

// weight returns the weight of the whole run.
func (r run) weight(depth int) wide {
	n := uint(depth - r.halvings)
	return wide{r.length >> (64 - n), r.length << n}
}

// mark is a place up to which runs have been passed: next is the offset of the first candidate that has not been
// passed, below is den·#{x < that candidate}, and before is the sum of the weights of all earlier candidates.
type mark struct {
	place         int
	next          uint64
	below, before wide
}

// placesPerMark is how many places lie between two marks.
const placesPerMark = 256

// walkRuns passes, in ascending order, the runs from a mark up to a place, and with the last place also the run after
// it. If the weights of all runs are laid end to end, it returns the first run whose weights contain the number at.
// If none does, it returns the mark that it reaches.
func (q *rankedRuns) walkRuns(from mark, to int, at wide) (r run, m mark, found bool) {
	depth := len(q.limits) - 1
	k := depth
	m = from
	pass := func(offset, length uint64, distance wide) (found bool) {
		k = q.halvingsOf(distance, k)
		r = run{offset, length, distance, k}
		sum := m.before.plus(r.weight(depth))
		if at.below(sum) {
			return true
		}
		m.before = sum
		return false
	}
	for ; m.place < to; m.place++ {
		offset := uint64(q.places[m.place]) - uint64(q.first)
		upTo := m.below.plus(multiplyWide(q.den, uint64(q.counts[m.place])))
		if pass(m.next, offset-m.next, q.distanceOf(m.below, m.below)) || pass(offset, 1, q.distanceOf(m.below, upTo)) {
			return r, m, true
		}
		m.next, m.below = offset+1, upTo
	}
	found = to == len(q.places) && pass(m.next, q.length-m.next, q.distanceOf(m.below, m.below))
	return r, m, found
}

// setWeights sets limits, marks and total for integer weights of depth bits.
func (q *rankedRuns) setWeights(depth int) {
	q.limits, q.marks = halvingDistances(q.lambda, depth), nil
	m := mark{}
	for len(q.marks) == 0 || m.place < len(q.places) {
		q.marks = append(q.marks, m)
		_, m, _ = q.walkRuns(m, min(m.place+placesPerMark, len(q.places)), wide{^uint64(0), ^uint64(0)})
	}
	q.total = m.before
}

// findRun returns the run whose weights contain a number below the total, and the sum of the weights before it.
func (q *rankedRuns) findRun(at wide) (r run, before wide) {
	after := sort.Search(len(q.marks), func(i int) bool { return at.below(q.marks[i].before) })
	r, m, _ := q.walkRuns(q.marks[after-1], len(q.places), at)
	return r, m.before
}

// distanceOf returns the distance of the asked rank from the ranks between low and high.
func (q *rankedRuns) distanceOf(low, high wide) wide {
	switch {
	case q.rank.below(low):
		return low.minus(q.rank)
	case high.below(q.rank):
		return q.rank.minus(high)
	}
	return wide{}
}

// halvingsOf returns the largest k, up to the depth, whose limit is at most a distance. It searches in steps from
// another k.
func (q *rankedRuns) halvingsOf(distance wide, k int) int {
	for distance.below(q.limits[k]) { // limits[0] is 0
		k--
	}
	for k+1 < len(q.limits) && !distance.below(q.limits[k+1]) {
		k++
	}
	return k
}

// tryCandidate draws the offset of one candidate by its integer weight, and whether it is kept.
func (q *rankedRuns) tryCandidate(c coins, word uint) (offset uint64, kept bool) {
	at := wideOf(c.BelowBig(q.total.big()))
	r, before := q.findRun(at)
	within := at.minus(before).shifted(uint(len(q.limits) - 1 - r.halvings))
	return r.offset + within.lo, q.keepsRun(c, r, word)
}

// keepsRun returns true with probability 2^k·exp(−λd), which is at most 1. A uniform U is drawn, word bits at a time,
// until it is certain whether it is less.
func (q *rankedRuns) keepsRun(c coins, r run, word uint) bool {
	const spare = 32
	if r.distance == (wide{}) {
		return true
	}
	x := new(big.Rat).SetInt(r.distance.big())
	x.Mul(x, q.lambda)
	words := new(big.Int).Lsh(bigOne, word)
	u, end := new(big.Int), new(big.Int)
	for length := word; ; length += word {
		u.Lsh(u, word).Add(u, c.BelowBig(words)) // U is in [u, u+1)·2^−length
		bound := expNeg(x, length+uint(r.halvings)+spare)
		end.Add(u, bigOne)
		if end.Lsh(end, spare).Cmp(&bound.lo) <= 0 {
			return true
		}
		if end.Lsh(u, spare).Cmp(&bound.hi) >= 0 {
			return false
		}
	}
}

// wide is a whole number below 2¹²⁸.
type wide struct{ hi, lo uint64 }

// multiplyWide returns xy.
func multiplyWide(x, y uint64) (z wide) {
	z.hi, z.lo = bits.Mul64(x, y)
	return z
}

// plus returns x+y, for a sum below 2¹²⁸.
func (x wide) plus(y wide) (z wide) {
	var carry uint64
	z.lo, carry = bits.Add64(x.lo, y.lo, 0)
	z.hi, _ = bits.Add64(x.hi, y.hi, carry)
	return z
}

// minus returns x−y, for x ≥ y.
func (x wide) minus(y wide) (z wide) {
	var borrow uint64
	z.lo, borrow = bits.Sub64(x.lo, y.lo, 0)
	z.hi, _ = bits.Sub64(x.hi, y.hi, borrow)
	return z
}

// below reports whether x < y.
func (x wide) below(y wide) bool {
	_, borrow := bits.Sub64(x.lo, y.lo, 0)
	_, borrow = bits.Sub64(x.hi, y.hi, borrow)
	return borrow == 1
}

// shifted returns ⌊x/2ⁿ⌋ for n ≤ 64.
func (x wide) shifted(n uint) wide {
	return wide{x.hi >> n, x.hi<<(64-n) | x.lo>>n}
}

func (x wide) big() *big.Int {
	z := new(big.Int).SetUint64(x.hi)
	return z.Lsh(z, 64).Or(z, new(big.Int).SetUint64(x.lo))
}

// wideOf returns x, for 0 ≤ x < 2¹²⁸.
func wideOf(x *big.Int) wide {
	var bytes [16]byte
	x.FillBytes(bytes[:])
	return wide{binary.BigEndian.Uint64(bytes[:8]), binary.BigEndian.Uint64(bytes[8:])}
}
