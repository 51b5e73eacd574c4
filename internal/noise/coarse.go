package noise

import (
	"math/big"
	"math/bits"
	"sync/atomic"
)

const (
	// ratioBits sets the number of cells per scale: the scale holds between
	// 2^ratioBits and 2^(ratioBits+1) cells.
	ratioBits = 6
	// coarseGuideBits is the number of bits of U that decide nearly always. More of them, or more cells, decide more
	// often, but from tables that caches hold less well.
	coarseGuideBits = 15
	// mostOffsetBits is the most offset bits for which a word has room for coarseGuideBits in addition to sign and
	// offset. A draw from the table's cells is then below 2⁶².
	mostOffsetBits = prefixBits - coarseGuideBits
	// undecided marks an entry of the guide.
	undecided = 1 << 15
	// guard bounds the error of [coarse.rejectionShare] in units of 2⁻⁶⁴, which is below 2¹⁶. A wider guard costs
	// nothing: it is hit less than once in 2⁴⁰ draws.
	guard = 1 << 17
	// margin bounds, in units of 2⁻⁶³, what rounding does to both sides of a
	// comparison of prefixes.
	margin = 3
)

// A coarse sampler draws from a law too wide for a table of its values. A value
// is jB+r with B = 2^offsetBits and r < B. It draws the cell j from the law's
// weights at the multiples of B by inverting its distribution function F with one
// uniform number U, and r uniformly, and keeps the draw with probability
//
//	P(jB+r)/P(jB) = exp(−x),   x = r/t (Laplace) or r(2jB+r)/2σ² (Gaussian),
//
// which is above 0.86 in every cell of the table. Given j, the place of U between
// F(j−1) and F(j) is uniform still, and decides: the draw is kept if
//
//	U ≥ F(j−1) + (F(j)−F(j−1))·(1−exp(−x)).
//
// Mostly the first 15 bits of U tell the cell, and that U is beyond this bound for
// every r. Then no further bit of it is drawn.
//
// Guarantee: given uniform bits the law is exactly the stated one, with no tail
// cut off. Argument: docs/proofs/sampler.md, part 2.
type coarse struct {
	law        magnitudes // of j
	parameter  *big.Rat   // t or σ²
	offsetBits uint
	thresholds []uint64 // thresholds[j] is ⌊2⁶³·F(j)⌋; the last is the largest prefix there is
	// guide[i] is the number of thresholds below the prefixes that begin with i,
	// marked as undecided unless every U with such a prefix is in that cell, and keeps
	// every draw of it.
	guide *[1 << coarseGuideBits]uint16
	// x, in units of 2⁻⁶⁴ and rounded up, is at most base + j·slope throughout cell
	// j: base is λ, slope 2λ (Gaussian) or 0 (Laplace), with λ the rate of the cells.
	base, slope uint64
}

// newCoarse returns the sampler of a law whose scale, σ or t, is in
// [2^scaleBits, 2^(scaleBits+1)), for scaleBits > ratioBits.
func newCoarse(square bool, parameter *big.Rat, scaleBits uint) *coarse {
	c := &coarse{parameter: parameter, offsetBits: scaleBits - ratioBits}
	rate := new(big.Rat).Inv(parameter)
	side := new(big.Int).Lsh(bigOne, c.offsetBits)
	rate.Mul(rate, new(big.Rat).SetInt(side))
	if square {
		rate.Mul(rate, new(big.Rat).SetFrac(side, big.NewInt(2)))
	}
	c.law = magnitudes{square: square, rate: rate, last: new(atomic.Pointer[enclosedTo])}
	c.base = roundUp(rate, 64)
	if square {
		c.slope = 2 * c.base
	}
	c.thresholds = c.law.thresholds(prefixBits)
	c.guide = c.newGuide()
	return c
}

// roundUp returns x·2ⁿ rounded up, for x below 2⁶³⁻ⁿ.
func roundUp(x *big.Rat, n uint) uint64 {
	f := &fixedPoint{precision: n}
	return f.rational(x, 0).hi.Uint64()
}

// newGuide returns the guide. A place in a cell keeps every draw for which it is at least the cell's share x, as
// 1−exp(−x) ≤ x.
func (c *coarse) newGuide() *[1 << coarseGuideBits]uint16 {
	const width = 1 << (prefixBits - coarseGuideBits)
	guide, j := new([1 << coarseGuideBits]uint16), uint64(0)
	for i := range guide {
		first := uint64(i) * width
		for c.thresholds[j] < first { // ends: the last is the largest prefix
			j++
		}
		guide[i] = uint16(j)
		place, size := c.placeInCell(j, first)
		if c.thresholds[j] < first+width || place < highWord(size, c.base+j*c.slope)+margin {
			guide[i] |= undecided
		}
	}
	return guide
}

// placeInCell returns how far into cell j a prefix is, and how many prefixes the cell has.
func (c *coarse) placeInCell(j, prefix uint64) (place, size uint64) {
	before := uint64(0)
	if j > 0 {
		before = c.thresholds[j-1]
	}
	return prefix - before, c.thresholds[j] - before
}

// fill sets out to independent draws and returns an error if one is 2⁶² or more in absolute value. Every draw takes
// one word of b: the lowest bit is the sign, the next ones are r, and above them are the first bits of U. Further
// bits are read from b.Aside.
func (c *coarse) fill(b *Bits, out []int64) error {
	if c.offsetBits > mostOffsetBits {
		return c.fillWide(b, out)
	}
	guide, offsetBits := c.guide, c.offsetBits&63
	mask := uint64(1)<<offsetBits - 1
	for len(out) > 0 {
		at, draws := b.takeWords(len(out))
		now := out[:draws]
		for i := range now {
			word := b.wordAt(at + 8*i)
			j := uint64(guide[word>>(64-coarseGuideBits)])
			magnitude := j<<offsetBits | word>>1&mask
			if j >= undecided || magnitude == 0 { // rare
				var err error
				if now[i], err = c.settleDraw(b, word); err != nil {
					return err
				}
				continue
			}
			now[i] = withSign(magnitude, word&1)
		}
		out = out[draws:]
	}
	return nil
}

// settleDraw returns the draw that begins with a word. If that is not kept, it returns the next kept draw, from words
// of b.Aside. The bits of the prefix for which a word has no room are also read from there.
func (c *coarse) settleDraw(b *Bits, word uint64) (int64, error) {
	aside := b.SecondStream()
	mask := uint64(1)<<c.offsetBits - 1
	for ; ; word = aside.Uint64() {
		r := word >> 1 & mask
		prefix := word>>1&^mask | aside.Uint64()&mask
		j, kept, certain := c.decide(prefix, r<<(64-c.offsetBits))
		if !certain {
			if j, kept = c.decideExactly(aside, prefix, new(big.Int).SetUint64(r)); kept &&
				j >= overflowLimit>>c.offsetBits {
				return 0, errOverflow
			}
		}
		if magnitude := j<<c.offsetBits | r; kept && (magnitude > 0 || word&1 == 0) { // zero has one sign
			return withSign(magnitude, word&1), nil
		}
	}
}

// decide returns the cell of a U that begins with a prefix, and whether the cell keeps the offset whose r/B begins
// with the bits of rho, if both are certain.
func (c *coarse) decide(prefix, rho uint64) (j uint64, kept, certain bool) {
	j = uint64(c.guide[prefix>>(prefixBits-coarseGuideBits)]) &^ undecided
	for c.thresholds[j] < prefix {
		j++
	}
	if c.thresholds[j] == prefix {
		return 0, false, false
	}
	place, size := c.placeInCell(j, prefix)
	rejected := c.rejectionShare(j, rho)
	kept = place >= highWord(size, rejected+guard)+margin
	return j, kept, kept || place+margin <= highWord(size, rejected-min(rejected, guard))
}

// rejectionShare returns 1−exp(−x) in units of 2⁻⁶⁴, to within guard, for a cell of the table, where x < 0.15.
//
// 1−exp(−x) = x(1−x/2(1−x/3(1−…))); 9 factors leave out less than 2⁻⁴⁹.
func (c *coarse) rejectionShare(j, rho uint64) uint64 {
	perOffset := c.base // x/(r/B)
	if c.law.square {
		perOffset = highWord(c.base, rho) + j*c.slope
	}
	x := highWord(perOffset, rho)
	bracket := ^(x / 9) // divisions by constants are multiplications
	bracket = ^highWord(x/8, bracket)
	bracket = ^highWord(x/7, bracket)
	bracket = ^highWord(x/6, bracket)
	bracket = ^highWord(x/5, bracket)
	bracket = ^highWord(x/4, bracket)
	bracket = ^highWord(x/3, bracket)
	bracket = ^highWord(x/2, bracket)
	return highWord(x, bracket)
}

// highWord returns ⌊xy/2⁶⁴⌋.
func highWord(x, y uint64) uint64 {
	h, _ := bits.Mul64(x, y)
	return h
}

// decideExactly decides on offset r and the U that begins with a prefix, drawing
// further bits of it until that is certain.
func (c *coarse) decideExactly(aside *Bits, prefix uint64, r *big.Int) (j uint64, kept bool) {
	u := new(big.Int).SetUint64(prefix)
	for length := uint(prefixBits + 64); ; length += 64 {
		u.Lsh(u, 64).Or(u, new(big.Int).SetUint64(aside.Uint64()))
		if m, certain := c.law.locatePrefix(u, length); certain {
			if kept, certain := c.keepsOffset(m, r, u, length); certain {
				return uint64(m), kept
			}
		}
	}
}

// keepsOffset reports whether every U in [prefix, prefix+1)·2^−length, all of them in cell j, keeps offset r. certain
// is false if the answer is not the same for all of them, or not certain at a precision of length + 128 bits.
func (c *coarse) keepsOffset(j int, r, prefix *big.Int, length uint) (kept, certain bool) {
	f := &fixedPoint{precision: length + spareBits}
	cumulative := c.law.cachedCumulative(length)
	before := new(enclosure)
	if j > 0 {
		before = &cumulative[j-1]
	}
	bound, rejected := new(enclosure), f.one()
	f.sub(rejected, rejected, expNeg(c.exponentOf(int64(j), r), f.precision))
	f.sub(bound, &cumulative[j], before)
	f.mul(bound, bound, rejected)
	f.add(bound, before)
	least, end := prefixEnds(prefix, spareBits)
	kept = least.Cmp(&bound.hi) >= 0
	return kept, kept || end.Cmp(&bound.lo) <= 0
}

// exponentOf returns x.
func (c *coarse) exponentOf(j int64, r *big.Int) *big.Rat {
	x := new(big.Int).Set(r)
	half := int64(1)
	if c.law.square {
		twice := new(big.Int).Lsh(big.NewInt(j), c.offsetBits+1)
		x.Mul(x, twice.Add(twice, r))
		half = 2
	}
	return new(big.Rat).Quo(new(big.Rat).SetFrac(x, big.NewInt(half)), c.parameter)
}

// fillWide is fill for cells so wide that an offset leaves too little of a word, or has more bits than a word: sign
// and prefix take a word, and the offset others.
func (c *coarse) fillWide(b *Bits, out []int64) error {
	side := new(big.Int).Lsh(bigOne, c.offsetBits)
	for i := 0; i < len(out); {
		word := b.Uint64()
		r := b.BelowBig(side)
		rho := new(big.Int).Lsh(r, 64)
		j, kept, certain := c.decide(word>>1, rho.Rsh(rho, c.offsetBits).Uint64())
		if !certain {
			j, kept = c.decideExactly(b.SecondStream(), word>>1, r)
		}
		magnitude := new(big.Int).SetUint64(j)
		magnitude.Add(magnitude.Lsh(magnitude, c.offsetBits), r)
		switch {
		case !kept, magnitude.Sign() == 0 && word&1 == 1: // zero has one sign
			continue
		case magnitude.Cmp(bigLimit) >= 0:
			return errOverflow
		}
		out[i] = withSign(magnitude.Uint64(), word&1)
		i++
	}
	return nil
}
