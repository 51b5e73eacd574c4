package noise

import (
	"fmt"
	"iter"
	"math/big"
	"math/bits"
	"slices"
)

// MostShareScale is the largest scale of discrete Laplace noise that can be shared: the table of a share holds all
// values up to some 44 times the scale.
const MostShareScale = 1 << 16

// AddLaplaceShare adds to every count, in place, an independent share of discrete Laplace noise of scale s > 0. With
// t = holders a share is the integer N₁ − N₂, for independent N₁ and N₂ of the negative binomial law of order r = 1/t,
//
//	P(N = n) = Γ(n+r)/(n!·Γ(r)) · (1−a)^r · aⁿ,   a = exp(−1/s),   n ≥ 0.
//
// Guarantee: given uniform bits the law is exactly this one, for every rational s up to [MostShareScale], with no
// tail cut off. The sum of t independent shares is discrete Laplace noise of scale s, exactly as [AddDiscreteLaplace]
// draws it, and the sum of more than t shares is that noise with further independent noise added. Fewer than t
// shares do not protect as that noise does.
// Theorem: a geometric law is the sum of t negative binomial laws of order 1/t (Goryczka & Xiong 2017).
// Argument: docs/proofs/sampler.md, part 5.
//
// It returns an error for a scale that is not positive, is larger than [MostShareScale] or has more than 4096 bits,
// for fewer than 1 holders, and where a count or a noisy count reaches 2⁶² in absolute value. After an error all
// counts are zero: neither exact nor half-noisy integers remain.
func AddLaplaceShare(b *Bits, scale *big.Rat, holders int, counts []int64) error {
	if err := checkShare(scale, holders); err != nil {
		clear(counts)
		return err
	}
	return shares.shareOf(scale, holders).addDraws(b, counts)
}

// checkShare returns an error for noise that cannot be shared.
func checkShare(scale *big.Rat, holders int) error {
	if err := checkParameter("scale of shared discrete Laplace noise", scale); err != nil {
		return err
	}
	if scale.Cmp(new(big.Rat).SetInt64(MostShareScale)) > 0 {
		return fmt.Errorf("the scale of shared discrete Laplace noise must be at most %d: spend more budget on it",
			MostShareScale)
	}
	if holders < 1 {
		return fmt.Errorf("noise is shared by at least 1 holder, not by %d", holders)
	}
	return nil
}

// countLaw is a law on n = 0, 1, 2, … with P(n) > 0.
type countLaw interface {
	// lowerCutoff returns 0, or an n with F(n) < 2^−(length+2) for F(n) = P(N ≤ n).
	lowerCutoff(length uint) uint64
	// cumulative encloses F(n) for n = lowerCutoff(length) and all further n up to some n with F(n) > 1 − 2^−length. An
	// enclosure holds until the next one: laws have up to some million values, of which only one is kept at a time.
	cumulative(length, precision uint) iter.Seq[enclosure]
}

// polya is the negative binomial (Pólya) law on n = 0, 1, 2, … of order r = 1/holders and a = exp(−rate).
type polya struct {
	rate    *big.Rat // λ ≥ 2⁻¹⁶
	holders uint64
}

func (polya) lowerCutoff(uint) uint64 { return 0 }

// cumulative encloses F(n) = P(N ≤ n) for n = 0, 1, 2, …, up to some n with F(n) > 1 − 2^−length.
//
// P(0) = (1−a)^r is a root, and P(n+1) = P(n)·a·(n+r)/(n+1). As r ≤ 1 these ratios are at most a, so what is left
// beyond n is at most P(n)·a/(1−a).
func (l polya) cumulative(length, precision uint) iter.Seq[enclosure] {
	return func(yield func(enclosure) bool) {
		f := &fixedPoint{precision: precision}
		a, gap, sum := expNeg(l.rate, precision), f.one(), new(enclosure)
		f.sub(gap, gap, a)
		weight := f.root(gap, l.holders)
		least := new(big.Int).Rsh(&gap.lo, length+2)
		holders := new(big.Int).SetUint64(l.holders)
		numerator, denominator := big.NewInt(1), new(big.Int).Set(holders) // of (n+r)/(n+1), both times holders
		for {
			f.add(sum, weight)
			if !yield(*sum) || weight.hi.Cmp(least) <= 0 {
				return
			}
			f.mul(weight, weight, a)
			f.mulRatio(weight, numerator, denominator)
			numerator.Add(numerator, holders)
			denominator.Add(denominator, holders)
		}
	}
}

// A shareTable draws differences of two values of a law on 0, 1, 2, …, each by inverting its distribution function F
// with one uniform number U per draw, as a [table] does. It differs in what a wide law without a closed form of F
// needs: a word of U without a sign, more than 2¹⁶ thresholds, and no enclosures that are kept.
type shareTable struct {
	law    countLaw
	length uint   // bits in a prefix of U: shareBits but for tests
	first  uint64 // the n of the first threshold
	// thresholds[n−first] is ⌊2^length·F(n)⌋, shifted so that prefixes have 64 bits. The last is the largest prefix
	// there is. Thresholds of smaller n are 0.
	thresholds []uint64
	// guide[i] is the number of thresholds below the prefixes that begin with i. One more entry ends it.
	guide []uint32
	shift uint // from a prefix to its place in the guide
}

const (
	// shareBits is how many bits of a uniform number decide at once: a word.
	shareBits = 64
	// mostShareGuideBits bounds the size of a guide, in bits.
	mostShareGuideBits = 16
)

// newShareTable returns the table of a law whose thresholds, at a prefix of length bits, are fewer than 2³².
func newShareTable(law countLaw, length uint) *shareTable {
	t := &shareTable{law: law, length: length, first: law.lowerCutoff(length),
		thresholds: certainThresholds(law.cumulative, length, spareBits)}
	for n := range t.thresholds {
		t.thresholds[n] <<= shareBits - length
	}
	guideBits := min(mostShareGuideBits, max(leastGuideBits, bits.Len(uint(len(t.thresholds)))+2), int(length))
	t.shift = uint(shareBits - guideBits)
	t.guide = make([]uint32, 1<<guideBits+1)
	below := 0
	for i := range 1 << guideBits {
		for t.thresholds[below] < uint64(i)<<t.shift { // ends: the last is the largest prefix
			below++
		}
		t.guide[i] = uint32(below)
	}
	t.guide[1<<guideBits] = uint32(len(t.thresholds) - 1)
	return t
}

// fill sets out to independent shares. Every share takes two words of b: one for N₁ and the next for N₂.
func (t *shareTable) fill(b *Bits, out []int64) {
	var pairs [stretch]int64
	for len(out) > 0 {
		now := out[:min(stretch/2, len(out))]
		t.fillCounts(b, pairs[:2*len(now)])
		for i := range now {
			now[i] = pairs[2*i] - pairs[2*i+1]
		}
		out = out[len(now):]
	}
}

// fillCounts sets out to independent draws from the law. Every draw takes one word of b.
func (t *shareTable) fillCounts(b *Bits, out []int64) {
	thresholds, guide, shift := t.thresholds, t.guide, t.shift&63
	for len(out) > 0 {
		at, draws := b.takeWords(len(out))
		now := out[:draws]
		for i := range now {
			prefix := b.wordAt(at + 8*i)
			n := uint64(guide[prefix>>shift])
			_, below := bits.Sub64(thresholds[n], prefix, 0)
			n += below
			if thresholds[n] <= prefix { // rare: further thresholds in this stretch of the guide, or a tie
				now[i] = int64(t.settleDraw(b, prefix))
				continue
			}
			now[i] = int64(t.first + n)
		}
		out = out[draws:]
	}
}

// settleDraw returns the draw for a prefix.
func (t *shareTable) settleDraw(b *Bits, prefix uint64) uint64 {
	place := prefix >> t.shift
	first, last := int(t.guide[place]), int(t.guide[place+1])
	n, tie := slices.BinarySearch(t.thresholds[first:last+1], prefix)
	if tie {
		return t.refineDraw(b.SecondStream(), prefix)
	}
	return t.first + uint64(first+n)
}

// refineDraw draws further bits of the U that begins with a prefix until the result is certain: the least n with U <
// F(n).
func (t *shareTable) refineDraw(aside *Bits, prefix uint64) uint64 {
	u := new(big.Int).SetUint64(prefix >> (shareBits - t.length))
	for length := t.length + 64; ; length += 64 {
		u.Lsh(u, 64).Or(u, new(big.Int).SetUint64(aside.Uint64()))
		if n, certain := locateIn(t.law.cumulative(length, length+spareBits), u, spareBits); certain {
			return t.law.lowerCutoff(length) + uint64(n)
		}
	}
}
