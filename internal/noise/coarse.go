package noise

import (
	"math/big"
	"math/bits"
)

const (
	// ratioBits sets the number of cells per scale: the scale holds between
	// 2^ratioBits and 2^(ratioBits+1) cells.
	ratioBits = 7
	// mostOffsetBits is the most for which a draw stays below 2⁶² and what is left
	// of a word for its acceptance decides nearly always.
	mostOffsetBits = 48
	// guard bounds the error of [coarse.approximately] in units of 2⁻⁶⁴: that is below
	// 2¹⁶. How wide it is costs nothing: it is hit less than once in 2⁴⁰ draws.
	guard = 1 << 17
)

// A coarse sampler draws from a law too wide for a table of its values. A value
// is jB+r with B = 2^offsetBits and r < B. It draws the cell j from a table of the
// law's weights at the multiples of B, r uniformly, and keeps the draw with
// probability
//
//	P(jB+r)/P(jB) = exp(−x),   x = r/t (Laplace) or r(2jB+r)/2σ² (Gaussian),
//
// which is above 0.92 in every cell of the table.
//
// Guarantee: given uniform bits the law is exactly the stated one, with no tail
// cut off. Argument: docs/proofs/sampler.md, part 2.
type coarse struct {
	cells      *table
	square     bool
	parameter  *big.Rat // t or σ²
	offsetBits uint
	// x, in units of 2⁻⁶⁴ and rounded up, is at most base + j·slope throughout cell
	// j: base is λ, slope 2λ (Gaussian) or 0 (Laplace), with λ the rate of the cells.
	base, slope uint64
}

// newCoarse returns the sampler of a law whose scale, σ or t, is in
// [2^scaleBits, 2^(scaleBits+1)), for scaleBits > ratioBits.
func newCoarse(square bool, parameter *big.Rat, scaleBits uint) *coarse {
	c := &coarse{square: square, parameter: parameter, offsetBits: scaleBits - ratioBits}
	rate := new(big.Rat).Inv(parameter)
	side := new(big.Int).Lsh(bigOne, c.offsetBits)
	rate.Mul(rate, new(big.Rat).SetInt(side))
	if square {
		rate.Mul(rate, new(big.Rat).SetFrac(side, big.NewInt(2)))
	}
	c.cells = newTable(magnitudes{square: square, rate: rate}, prefixBits)
	c.base = roundUp(rate, 64)
	if square {
		c.slope = 2 * c.base
	}
	return c
}

// roundUp returns x·2ⁿ rounded up, for x below 2⁶³⁻ⁿ.
func roundUp(x *big.Rat, n uint) uint64 {
	f := &fixedPoint{precision: n}
	return f.rational(x, 0).hi.Uint64()
}

// fill sets out to independent draws and returns an error where one is 2⁶² or
// more in absolute value. Every trial takes two words of b. The first holds the
// sign and the prefix that decides j; the second holds r in its low bits, and
// above them the first bits of the uniform number V that decides on r: the draw
// is kept if V ≥ 1−exp(−x), for which V ≥ x suffices.
func (c *coarse) fill(b *Bits, out []int64) error {
	if c.offsetBits > mostOffsetBits {
		return c.fillWide(b, out)
	}
	thresholds, guide, shift := c.cells.thresholds, c.cells.guide, c.cells.shift&63
	offsetBits, base, slope := c.offsetBits&63, c.base, c.slope
	mask := uint64(1)<<offsetBits - 1
	for len(out) > 0 {
		at, trials := b.take(len(out), 2)
		kept := 0
		for end := at + 16*trials; at < end; at += 16 {
			word, second := b.wordAt(at), b.wordAt(at+8)
			prefix := word >> 1
			j := uint64(guide[prefix>>shift])
			_, below := bits.Sub64(thresholds[j], prefix, 0)
			j += below
			if thresholds[j] <= prefix { // rare, as in a table
				j = c.cells.settle(b, prefix, j)
			}
			r, v := second&mask, second&^mask
			if v < base+j*slope || j >= uint64(len(thresholds)) { // rare: x is small
				if !c.accept(b, j, r, v) {
					continue
				}
				if j >= overflowLimit>>offsetBits {
					return errOverflow
				}
			}
			magnitude := j<<offsetBits | r
			if magnitude == 0 && word&1 == 1 {
				continue // zero has one sign
			}
			out[kept] = signed(magnitude, word&1)
			kept++
		}
		out = out[kept:]
	}
	return nil
}

// accept decides on offset r of cell j with a V that begins with the bits of
// prefix above the offset's.
func (c *coarse) accept(b *Bits, j, r, prefix uint64) bool {
	if j < uint64(len(c.cells.thresholds)) {
		rejected := c.approximately(j, r)
		if prefix >= rejected+guard {
			return true
		}
		if end := prefix + 1<<c.offsetBits; end+guard <= rejected {
			return false
		}
	}
	return c.acceptExactly(b.Aside(), new(big.Int).SetUint64(j), new(big.Int).SetUint64(r), prefix>>c.offsetBits, 64-c.offsetBits)
}

// approximately returns 1−exp(−x) in units of 2⁻⁶⁴, to within guard, for a cell of
// the table, where x < 1/8.
//
// 1−exp(−x) = x(1−x/2(1−x/3(1−…))); 14 factors leave out less than 2⁻⁸⁰.
func (c *coarse) approximately(j, r uint64) uint64 {
	rho := r << (64 - c.offsetBits) // r/B
	perOffset := c.base             // x/(r/B)
	if c.square {
		perOffset, _ = bits.Mul64(c.base, rho)
		perOffset += j * c.slope
	}
	x, _ := bits.Mul64(perOffset, rho)
	bracket := ^uint64(0)
	for k := uint64(14); k > 1; k-- {
		part, _ := bits.Mul64(x/k, bracket)
		bracket = ^part
	}
	rejected, _ := bits.Mul64(x, bracket)
	return rejected
}

// acceptExactly returns true with probability exp(−x), by comparing the U that
// begins with the length bits of prefix with 1−exp(−x), drawing further bits of it
// until the result is certain.
func (c *coarse) acceptExactly(aside *Bits, j, r *big.Int, prefix uint64, length uint) bool {
	const spare = 64
	x := c.exponent(j, r)
	v, least, end := new(big.Int).SetUint64(prefix), new(big.Int), new(big.Int)
	for ; ; length += 64 {
		f := &fixedPoint{precision: length + spare}
		rejected := f.one()
		f.sub(rejected, rejected, expNeg(x, f.precision))
		if least.Lsh(v, spare).Cmp(&rejected.hi) >= 0 {
			return true
		}
		if end.Lsh(end.Add(v, bigOne), spare).Cmp(&rejected.lo) <= 0 {
			return false
		}
		v.Lsh(v, 64).Or(v, new(big.Int).SetUint64(aside.Uint64()))
	}
}

// exponent returns x.
func (c *coarse) exponent(j, r *big.Int) *big.Rat {
	x := new(big.Int).Set(r)
	half := int64(1)
	if c.square {
		twice := new(big.Int).Lsh(j, c.offsetBits+1)
		x.Mul(x, twice.Add(twice, r))
		half = 2
	}
	return new(big.Rat).Quo(new(big.Rat).SetFrac(x, big.NewInt(half)), c.parameter)
}

// fillWide is fill for cells so wide that an offset leaves too little of a word,
// or has more bits than one. Nearly all draws are errors then.
func (c *coarse) fillWide(b *Bits, out []int64) error {
	for i := 0; i < len(out); {
		word := b.Uint64()
		prefix := word >> 1
		j := new(big.Int).SetUint64(c.cells.settle(b, prefix, uint64(c.cells.guide[prefix>>c.cells.shift])))
		r := b.BelowBig(new(big.Int).Lsh(bigOne, c.offsetBits))
		if !c.acceptExactly(b.Aside(), j, r, b.Uint64(), 64) {
			continue
		}
		magnitude := j.Add(j.Lsh(j, c.offsetBits), r)
		switch {
		case magnitude.Cmp(bigLimit) >= 0:
			return errOverflow
		case magnitude.Sign() == 0 && word&1 == 1:
			continue
		}
		out[i] = signed(magnitude.Uint64(), word&1)
		i++
	}
	return nil
}
