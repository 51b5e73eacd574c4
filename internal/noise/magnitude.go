package noise

import (
	"iter"
	"math/big"
	"slices"
	"sync/atomic"
)

// magnitudes is a law on m = 0, 1, 2, …:
//
//	P(m) ∝ c(m)·exp(−λm)    or, if square, ∝ c(m)·exp(−λm²)
//
// with c(0) = 1, and c(m) = 2 for m > 0 if folded, 1 if not. Folded it is the law
// of |X| for a discrete Laplace or Gaussian X; not folded it is the law of X given
// X ≥ 0.
type magnitudes struct {
	square, folded bool
	rate           *big.Rat // λ > 0
	// last, if not nil, caches the result of cachedCumulative: draws that need further bits mostly ask for the same
	// length.
	last *atomic.Pointer[enclosedTo]
}

// enclosedTo is the result of cachedCumulative for a length. It is never modified.
type enclosedTo struct {
	length     uint
	cumulative []enclosure
}

// spareBits is how many bits finer enclosures are than the numbers that are compared with them.
const spareBits = 128

// cachedCumulative is cumulative for numbers of the given length in bits, at a precision of spareBits more.
func (l magnitudes) cachedCumulative(length uint) []enclosure {
	if l.last == nil {
		return l.cumulative(length, length+spareBits)
	}
	known := l.last.Load()
	if known == nil || known.length != length {
		known = &enclosedTo{length, l.cumulative(length, length+spareBits)}
		l.last.Store(known)
	}
	return known.cumulative
}

// cumulative encloses F(m) = P(|X| ≤ m) for m = 0, 1, 2, …, up to some m with
// F(m) > 1 − 2^−length, for precision ≥ length + 128 and a rate of 2⁻²² or more.
//
// Weights follow by products, w(m+1) = w(m)·h(m) with h(m+1) = h(m)·exp(−2λ)
// (square) or h(m) = exp(−λ). Beyond the last weight taken they fall at least as
// fast as a geometric series of ratio h, which bounds what is left; it is equal
// to that series if not square. Where it is only a bound, the sum goes on until
// it is of no consequence at this precision.
func (l magnitudes) cumulative(length, precision uint) []enclosure {
	f := &fixedPoint{precision: precision}
	first, fall, ratio := expNeg(l.rate, precision), new(enclosure), new(enclosure)
	f.mul(ratio, first, f.one())
	f.mul(fall, first, first)
	weight, sum := f.one(), f.one()
	sums := []enclosure{*f.one()}
	for least := l.leastWeight(f, first, length); weight.hi.Cmp(least) > 0; {
		f.mul(weight, weight, ratio)
		if l.square {
			f.mul(ratio, ratio, fall)
		}
		l.addWeight(f, sum, weight)
		sums = append(sums, enclosure{})
		f.add(&sums[len(sums)-1], sum)
	}
	l.addWeight(f, sum, l.tailWeights(f, weight, ratio))
	share, unit := new(enclosure), f.one()
	f.quo(share, unit, sum)
	for m := range sums {
		if f.mul(&sums[m], &sums[m], share); sums[m].hi.Cmp(&unit.hi) > 0 {
			sums[m].hi.Set(&unit.hi) // no probability is larger
		}
	}
	return sums
}

// addWeight adds c(m)·weight to a sum, for m > 0.
func (l magnitudes) addWeight(f *fixedPoint, sum, weight *enclosure) {
	f.add(sum, weight)
	if l.folded {
		f.add(sum, weight)
	}
}

// leastWeight returns the weight from which the rest can be left to tailWeights. The rest is at most 2w/(1−h) with h
// ≤ first.
func (l magnitudes) leastWeight(f *fixedPoint, first *enclosure, length uint) *big.Int {
	rest := f.precision - length - 2 // 2^−(length+2), as a power of 2 in units of 2⁻ᴾ
	if l.square {
		rest = 64 // 2^−(P−64)
	}
	gap := f.one()
	f.sub(gap, gap, first)
	return gap.lo.Rsh(&gap.lo, f.precision-rest+1)
}

// tailWeights encloses the sum of the weights that follow one, without their factors c. The next weight is ratio
// times this one.
func (l magnitudes) tailWeights(f *fixedPoint, weight, ratio *enclosure) *enclosure {
	series, gap := new(enclosure), f.one()
	f.sub(gap, gap, ratio)
	f.quo(series, ratio, gap)
	f.mul(series, series, weight)
	if l.square {
		series.lo.SetInt64(0) // the series is an upper bound
	}
	return series
}

// thresholds returns ⌊2^length·F(m)⌋ for m = 0, 1, … up to the first that is
// 2^length − 1, as all later ones are, for length ≤ 64. Each is certain: it is the
// same for both ends of an enclosure, where an upper end of 1 is not attained.
func (l magnitudes) thresholds(length uint) []uint64 {
	return certainThresholds(oneByOne(l.cumulative), length, spareBits)
}

// oneByOne makes a sequence of what a function returns at once.
func oneByOne(cumulative func(length, precision uint) []enclosure) func(length, precision uint) iter.Seq[enclosure] {
	return func(length, precision uint) iter.Seq[enclosure] { return slices.Values(cumulative(length, precision)) }
}

// certainThresholds rounds a distribution function down at the first precision, beginning with spare bits more than
// length, at which the result is certain.
func certainThresholds(cumulative func(length, precision uint) iter.Seq[enclosure], length, spare uint) []uint64 {
	for precision := length + spare; ; precision += 64 {
		if t, certain := roundDown(cumulative(length, precision), length, precision); certain {
			return t
		}
	}
}

func roundDown(cumulative iter.Seq[enclosure], length, precision uint) (thresholds []uint64, certain bool) {
	last := ^uint64(0) >> (64 - length)
	var lo, hi big.Int
	for f := range cumulative {
		lo.Rsh(&f.lo, precision-length)
		hi.Rsh(&f.hi, precision-length)
		if hi.BitLen() > int(length) {
			hi.SetUint64(last)
		}
		if lo.Cmp(&hi) != 0 {
			return nil, false
		}
		thresholds = append(thresholds, lo.Uint64())
		if lo.Uint64() == last {
			return thresholds, true
		}
	}
	return nil, false
}

// locatePrefix returns the least m with U < F(m) for every U in [prefix, prefix+1)·2^−length. It reports false if
// that is not the same for all of them, or not certain at a precision of length + 128 bits.
func (l magnitudes) locatePrefix(prefix *big.Int, length uint) (m int, certain bool) {
	return locateIn(slices.Values(l.cachedCumulative(length)), prefix, spareBits)
}

// locateIn returns the least m with U < F(m) for every U in [prefix, prefix+1)·2^−length, given enclosures of F at a
// precision of length + spare bits. It reports false if that is not the same for all of them, or not certain.
func locateIn(cumulative iter.Seq[enclosure], prefix *big.Int, spare uint) (m int, certain bool) {
	least, end := prefixEnds(prefix, spare)
	for f := range cumulative {
		if end.Cmp(&f.lo) <= 0 {
			return m, true
		}
		if least.Cmp(&f.hi) < 0 {
			return 0, false
		}
		m++
	}
	return 0, false
}

// prefixEnds returns the ends of [prefix, prefix+1)·2^−length at a precision of length + spare bits.
func prefixEnds(prefix *big.Int, spare uint) (least, end *big.Int) {
	least = new(big.Int).Lsh(prefix, spare)
	end = new(big.Int).Add(prefix, bigOne)
	return least, end.Lsh(end, spare)
}
