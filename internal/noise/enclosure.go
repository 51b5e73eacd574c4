package noise

import (
	"math/big"
	"math/bits"
)

// An enclosure holds a real number between two multiples of 2⁻ᴾ: it is known to
// lie in [lo, hi]·2⁻ᴾ. The precision P belongs to the fixedPoint that made it.
type enclosure struct{ lo, hi big.Int }

// fixedPoint calculates with enclosures of non-negative numbers at precision P.
// Every operation rounds lo down and hi up, so that what was enclosed stays
// enclosed. Results may be set over operands.
type fixedPoint struct {
	precision     uint
	scratch, rest big.Int
}

// one encloses 1, exactly.
func (f *fixedPoint) one() *enclosure {
	e := new(enclosure)
	e.lo.Lsh(bigOne, f.precision)
	e.hi.Set(&e.lo)
	return e
}

// mul sets e to xy.
func (f *fixedPoint) mul(e, x, y *enclosure) {
	f.scratch.Mul(&x.lo, &y.lo)
	e.lo.Rsh(&f.scratch, f.precision)
	f.scratch.Mul(&x.hi, &y.hi)
	shiftRoundUp(&e.hi, &f.scratch, f.precision)
}

// quo sets e to x/y, for y.lo > 0.
func (f *fixedPoint) quo(e, x, y *enclosure) {
	lo := new(big.Int).Lsh(&x.lo, f.precision)
	lo.Quo(lo, &y.hi)
	e.hi.Lsh(&x.hi, f.precision)
	f.quoRoundUp(&e.hi, &y.lo)
	e.lo.Set(lo)
}

// quoRoundUp sets x to x/y rounded up.
func (f *fixedPoint) quoRoundUp(x, y *big.Int) {
	f.scratch.Set(x)
	if x.QuoRem(&f.scratch, y, &f.rest); f.rest.Sign() > 0 {
		x.Add(x, bigOne)
	}
}

// add sets e to e+x.
func (f *fixedPoint) add(e, x *enclosure) {
	e.lo.Add(&e.lo, &x.lo)
	e.hi.Add(&e.hi, &x.hi)
}

// sub sets e to x−y, for x ≥ y; their enclosures may overlap.
func (f *fixedPoint) sub(e, x, y *enclosure) {
	lo := new(big.Int).Sub(&x.lo, &y.hi)
	e.hi.Sub(&x.hi, &y.lo)
	if e.lo.Set(lo); lo.Sign() < 0 {
		e.lo.SetInt64(0)
	}
}

// mulRatio sets e to e·numerator/denominator, both positive.
func (f *fixedPoint) mulRatio(e *enclosure, numerator, denominator *big.Int) {
	f.scratch.Mul(&e.lo, numerator)
	e.lo.QuoRem(&f.scratch, denominator, &f.rest)
	e.hi.Mul(&e.hi, numerator)
	f.quoRoundUp(&e.hi, denominator)
}

// power encloses (x·2⁻ᴾ)ⁿ, for 0 ≤ x ≤ 2ᴾ.
func (f *fixedPoint) power(x *big.Int, n uint64) *enclosure {
	base, e := new(enclosure), f.one()
	base.lo.Set(x)
	base.hi.Set(x)
	for i := bits.Len64(n) - 1; i >= 0; i-- {
		if f.mul(e, e, e); n>>i&1 == 1 {
			f.mul(e, e, base)
		}
	}
	return e
}

// root encloses y^(1/n), for y.lo < 1, 0 < y.hi ≤ 1 and n ≥ 1: between a number whose power is certainly at most y and
// one whose power is certainly at least y.
func (f *fixedPoint) root(y *enclosure, n uint64) *enclosure {
	e := new(enclosure)
	e.lo.Set(f.split(func(x *big.Int) bool { return f.power(x, n).hi.Cmp(&y.lo) <= 0 }))
	e.hi.Set(f.split(func(x *big.Int) bool { return f.power(x, n).lo.Cmp(&y.hi) < 0 }))
	e.hi.Add(&e.hi, bigOne)
	return e
}

// split returns an x in [0, 2ᴾ) with isBelow(x) but not isBelow(x+1), given isBelow(0) and not isBelow(2ᴾ).
func (f *fixedPoint) split(isBelow func(x *big.Int) bool) *big.Int {
	x, next := new(big.Int), new(big.Int)
	for bit := int(f.precision) - 1; bit >= 0; bit-- { // not isBelow(x + 2^(bit+1))
		if next.SetBit(x, bit, 1); isBelow(next) {
			x.Set(next)
		}
	}
	return x
}

// shiftRoundUp sets z to x/2ⁿ rounded up.
func shiftRoundUp(z, x *big.Int, n uint) {
	exact := x.Sign() == 0 || x.TrailingZeroBits() >= n
	if z.Rsh(x, n); !exact {
		z.Add(z, bigOne)
	}
}

// expNeg encloses exp(−x) for rational x ≥ 0, to a few multiples of 2⁻ᴾ.
//
// With y = x/2ᵏ ≤ ½, exp(−y) is an alternating series of falling terms; k
// squarings give exp(−x). A squaring at most doubles the width, so the work is
// done with k and some bits more.
func expNeg(x *big.Rat, precision uint) *enclosure {
	e := new(enclosure)
	if x.Cmp(new(big.Rat).SetUint64(uint64(precision))) >= 0 {
		e.hi.Set(bigOne) // exp(−P) < 2⁻ᴾ
		return e
	}
	squarings := uint(max(0, x.Num().BitLen()-x.Denom().BitLen()+2)) // x < 2^(difference+1)
	f := &fixedPoint{precision: precision + squarings + 16}
	f.expNegSeries(e, f.rational(x, squarings))
	for range squarings {
		f.mul(e, e, e)
	}
	e.lo.Rsh(&e.lo, f.precision-precision)
	f.scratch.Set(&e.hi)
	shiftRoundUp(&e.hi, &f.scratch, f.precision-precision)
	return e
}

// rational encloses x/2ⁿ, exactly if it can.
func (f *fixedPoint) rational(x *big.Rat, n uint) *enclosure {
	e := new(enclosure)
	e.lo.Lsh(x.Num(), f.precision-n)
	e.hi.Set(&e.lo)
	e.lo.Quo(&e.lo, x.Denom())
	f.quoRoundUp(&e.hi, x.Denom())
	return e
}

// expNegSeries sets e to exp(−y) for 0 ≤ y ≤ ½ + 2⁻ᴾ. Each partial sum of the
// series differs from exp(−y) by at most the last term taken.
func (f *fixedPoint) expNegSeries(e, y *enclosure) {
	e.lo, e.hi = f.one().lo, f.one().hi
	term, k := f.one(), new(big.Int)
	for {
		k.Add(k, bigOne)
		f.mul(term, term, y)
		term.lo.Quo(&term.lo, k)
		f.quoRoundUp(&term.hi, k)
		if k.Bit(0) == 1 {
			f.sub(e, e, term)
		} else {
			f.add(e, term)
		}
		if term.hi.Cmp(bigOne) <= 0 { // rounding up, it never falls below
			break
		}
	}
	e.lo.Sub(&e.lo, &term.hi)
	e.hi.Add(&e.hi, &term.hi)
}
