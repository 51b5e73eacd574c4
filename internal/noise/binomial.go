package noise

import (
	"math/big"
	"slices"
	"sort"
)

const (
	// mostTrialBits bounds the number of trials of a binomial law: 2^mostTrialBits.
	mostTrialBits = 62
	// leastTrialBits is small enough that the mean is at most mostMean for every q ≤ ½: of 2^leastTrialBits trials all
	// succeed with a probability of 2⁻⁶⁴ at most.
	leastTrialBits = 6
	// mostMean bounds its mean, so that its table is short.
	mostMean = 32
	// binomialSpare is how many bits more than a prefix its terms are calculated with. The first term is
	// exp(−2·mostMean) or more, which is 2⁻⁹³, and its error 2^mostTrialBits times that of q.
	binomialSpare = 256
)

// A binomial law is the law of how many of n = 2^trialBits independent trials succeed, each with probability q ≤ ½:
//
//	P(k) = C(n, k)·q^k·(1−q)^(n−k),   k = 0 … n
//
// with q known as an enclosure at any precision. Draws invert its distribution function F with one uniform number U,
// of which 64 bits are drawn, and more only if they matter.
type binomial struct {
	trialBits uint
	// success encloses q.
	success func(precision uint) *enclosure
	// thresholds[k] is ⌊2⁶⁴·F(k)⌋, up to the first that is 2⁶⁴ − 1.
	thresholds []uint64
}

// newBinomial returns the law of 2^trialBits trials, of which mostMean or fewer succeed on average.
func newBinomial(trialBits uint, success func(precision uint) *enclosure) *binomial {
	l := &binomial{trialBits: trialBits, success: success}
	l.thresholds = certainThresholds(oneByOne(l.cumulative), 64, binomialSpare)
	return l
}

// drawCount returns how many trials succeed.
//
// Guarantee: given uniform bits the law is exactly the stated one. Argument: docs/proofs/sparse.md, part 2.
func (l *binomial) drawCount(b *Bits) uint64 {
	word := b.Uint64()
	// the last is the largest word
	k := sort.Search(len(l.thresholds), func(k int) bool { return l.thresholds[k] >= word })
	if l.thresholds[k] > word {
		return uint64(k)
	}
	u := new(big.Int).SetUint64(word)
	for length := uint(128); ; length += 64 {
		u.Lsh(u, 64).Or(u, new(big.Int).SetUint64(b.Uint64()))
		if k, certain := l.locatePrefix(u, length); certain {
			return uint64(k)
		}
	}
}

// locatePrefix returns the least k with U < F(k) for every U in [prefix, prefix+1)·2^−length. It reports false if
// that is not the same for all of them, or not certain at a precision of length + binomialSpare bits.
func (l *binomial) locatePrefix(prefix *big.Int, length uint) (k int, certain bool) {
	return locateIn(slices.Values(l.cumulative(length, length+binomialSpare)), prefix, binomialSpare)
}

// cumulative encloses F(k) for k = 0, 1, …, up to some k with F(k) > 1 − 2^−length that is certain, or to where
// rounding hides whether it is.
//
// The first term is (1−q)^n, by trialBits squarings; the others follow by
// P(k+1) = P(k)·(n−k)/(k+1)·q/(1−q).
func (l *binomial) cumulative(length, precision uint) []enclosure {
	f := &fixedPoint{precision: precision}
	q := l.success(precision)
	odds, term := new(enclosure), f.one()
	f.sub(term, term, q)
	f.quo(odds, q, term)
	for range l.trialBits {
		f.mul(term, term, term)
	}
	unit := f.one()
	enough := new(big.Int).Sub(&unit.lo, new(big.Int).Lsh(bigOne, precision-length))
	sum := new(enclosure)
	f.add(sum, term)
	sums := []enclosure{*l.cappedAtOne(sum, unit)}
	trials := uint64(1) << l.trialBits
	for k := uint64(0); k < trials && sum.lo.Cmp(enough) <= 0 && uint64(len(sums)) < mostTerms(length); k++ {
		left, next := new(big.Int).SetUint64(trials-k), new(big.Int).SetUint64(k+1)
		term.lo.Mul(&term.lo, left)
		term.hi.Mul(&term.hi, left)
		f.mul(term, term, odds)
		term.lo.Quo(&term.lo, next)
		f.quoRoundUp(&term.hi, next)
		f.add(sum, term)
		sums = append(sums, *l.cappedAtOne(sum, unit))
	}
	if uint64(len(sums)) == trials+1 { // at most all trials succeed
		sums[trials] = *unit
	}
	return sums
}

// mostTerms returns a number of terms beyond which the law has less than 2^−length: P(K ≥ k) ≤ (e·mostMean/k)^k.
func mostTerms(length uint) uint64 { return 8*mostMean + uint64(length) }

// cappedAtOne returns a copy of a sum of probabilities, which is 1 at most.
func (l *binomial) cappedAtOne(sum, unit *enclosure) *enclosure {
	out := new(enclosure)
	out.lo.Set(&sum.lo)
	if out.hi.Set(&sum.hi); out.hi.Cmp(&unit.hi) > 0 {
		out.hi.Set(&unit.hi)
	}
	return out
}

// trialBitsOf returns the largest number of bits for which the trials, of a probability below ½, succeed at most
// mostMean times on average.
func trialBitsOf(success func(precision uint) *enclosure) uint {
	const precision = 128
	most := new(big.Int).Lsh(big.NewInt(mostMean), precision)
	q := success(precision)
	n := uint(mostTrialBits)
	for n > leastTrialBits && new(big.Int).Lsh(&q.hi, n).Cmp(most) > 0 {
		n--
	}
	return n
}
