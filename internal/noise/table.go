package noise

import (
	"math/big"
	"math/bits"
	"sync/atomic"
)

const (
	// prefixBits is how many bits of a uniform number decide at once. With a sign they fill a word.
	prefixBits = 63
	// Bounds on the size of a guide, in bits: it is to stay in the caches.
	leastGuideBits, mostGuideBits = 12, 15
)

// A table draws from a law on 0, 1, 2, … by inverting its distribution function F with one uniform number U per draw,
// of which 63 bits are drawn, and more only if they matter.
//
// Guarantee: given uniform bits the law is exactly this one, with no tail cut off. Argument: docs/proofs/sampler.md,
// part 1.
type table struct {
	law    magnitudes
	length uint // bits in a prefix of U: prefixBits but for tests
	// thresholds[m] is ⌊2^length·F(m)⌋, shifted so that prefixes have 63 bits. The
	// last is the largest prefix there is.
	thresholds []uint64
	// guide[i] is the number of thresholds below the prefixes that begin with i.
	guide []uint16
	shift uint // from a prefix to its place in the guide
}

// newTable returns the table of a law whose thresholds, at a prefix of length
// bits, are fewer than 2¹⁶.
func newTable(law magnitudes, length uint) *table {
	law.last = new(atomic.Pointer[enclosedTo])
	t := &table{law: law, length: length, thresholds: law.thresholds(length)}
	for m := range t.thresholds {
		t.thresholds[m] <<= prefixBits - length
	}
	guideBits := min(mostGuideBits, max(leastGuideBits, bits.Len(uint(len(t.thresholds)))+2), int(length))
	t.shift = uint(prefixBits - guideBits)
	t.guide = make([]uint16, 1<<guideBits)
	below := 0
	for i := range t.guide {
		for t.thresholds[below] < uint64(i)<<t.shift { // ends: the last is the largest prefix
			below++
		}
		t.guide[i] = uint16(below)
	}
	return t
}

// fill sets out to independent draws of m with a fair sign. Every draw takes one
// word of b: the lowest bit is the sign, the others are the prefix of U.
func (t *table) fill(b *Bits, out []int64) {
	thresholds, guide, shift := t.thresholds, t.guide, t.shift&63
	for len(out) > 0 {
		at, draws := b.takeWords(len(out))
		now := out[:draws]
		for i := range now {
			word := b.wordAt(at + 8*i)
			prefix := word >> 1
			m := uint64(guide[prefix>>shift])
			_, below := bits.Sub64(thresholds[m], prefix, 0)
			m += below
			if thresholds[m] <= prefix { // rare: further thresholds in this stretch of the guide, or a tie
				m = t.settleDraw(b, prefix, m)
			}
			now[i] = withSign(m, word&1)
		}
		out = out[draws:]
	}
}

// withSign returns m, or −m if negative is 1.
func withSign(m, negative uint64) int64 { return int64((m ^ -negative) + negative) }

// settleDraw returns the draw for a prefix, given that m or more thresholds are below it.
func (t *table) settleDraw(b *Bits, prefix, m uint64) uint64 {
	for t.thresholds[m] < prefix {
		m++
	}
	if t.thresholds[m] > prefix {
		return m
	}
	return t.refineDraw(b.SecondStream(), prefix)
}

// refineDraw draws further bits of the U that begins with a prefix until the result is certain: the least m with U <
// F(m).
func (t *table) refineDraw(aside *Bits, prefix uint64) uint64 {
	u := new(big.Int).SetUint64(prefix >> (prefixBits - t.length))
	for length := t.length + 64; ; length += 64 {
		u.Lsh(u, 64).Or(u, new(big.Int).SetUint64(aside.Uint64()))
		if m, certain := t.law.locatePrefix(u, length); certain {
			return uint64(m)
		}
	}
}
