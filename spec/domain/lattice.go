package domain

// This file holds where the values of a numeric column lie once they are rounded: the places of raw values on its
// lattice.

import (
	"math"
	"math/big"
	"math/bits"

	"github.com/dprelease/dprelease/spec/document"
)

// newLattice makes the lattice of multiples of a step, from first to last. Numerator and denominator of the step fit 62
// bits.
func newLattice(step *big.Rat, first, last int64) *Lattice {
	return &Lattice{Step: step, First: first, Last: last, scale: scaleOf(step)}
}

// Whole stands for no stratum: the range of all values.
const Whole = -1

// Of are the first and the last place of the values of a stratum: a finest code of the column By, or Whole. Where there
// are no strata it is always the range of all.
func (l *Lattice) Of(stratum int) (first, last int64) {
	if l.By == "" || stratum < 0 {
		return l.First, l.Last
	}
	return l.Strata[stratum].First, l.Strata[stratum].Last
}

// Places returns how many places the lattice has; where they are too many to have codes of 32 bits, more than can have.
func (l *Lattice) Places() int {
	if l.Last < l.First || uint64(l.Last)-uint64(l.First) >= math.MaxUint32 {
		return math.MaxUint32
	}
	return int(l.Last-l.First) + 1
}

// Value is the number at a place.
func (l *Lattice) Value(place int64) *big.Rat {
	return new(big.Rat).Mul(l.Step, new(big.Rat).SetInt64(place))
}

// PlaceOfInt is the place of an integer: x = v/Step rounded to ⌊x + 1/2⌋ and clamped to the range of its stratum.
func (l *Lattice) PlaceOfInt(v int64, stratum int) int64 {
	s := l.scaled()
	if s.num == 1 && s.den == 1 {
		return l.Clamp(v, stratum)
	}
	return l.Clamp(s.nearest(quantity{negative: v < 0, magnitude: magnitude(v)}), stratum)
}

// PlaceOfFloat is the place of a float64, read as its shortest decimal that reads back the same; infinities lie beyond
// all numbers and so at an end. It is NaN for what is no number, and else always fits.
func (l *Lattice) PlaceOfFloat(v float64, stratum int) (int64, Fit) {
	switch {
	case math.IsNaN(v):
		return 0, NaN
	case math.IsInf(v, 1):
		return l.Clamp(math.MaxInt64, stratum), Fits
	case math.IsInf(v, -1):
		return l.Clamp(math.MinInt64, stratum), Fits
	case v == math.Trunc(v) && math.Abs(v) < 1<<53:
		return l.PlaceOfInt(int64(v), stratum), Fits
	}
	s := l.scaled()
	if place, sure := s.nearestFloat(v); sure {
		return l.Clamp(place, stratum), Fits
	}
	return l.Clamp(s.nearest(quantityOfFloat(v)), stratum), Fits
}

// PlaceOfDecimal is the place of unscaled·10^-scale, where unscaled is a 128-bit integer in two's complement, as
// Arrow's decimals are.
func (l *Lattice) PlaceOfDecimal(high int64, low uint64, scale int32, stratum int) int64 {
	q := quantity{negative: high < 0, exponent: -int(scale)}
	if q.negative {
		var carry uint64
		low, carry = bits.Add64(^low, 1, 0)
		high = int64(uint64(^high) + carry)
	}
	if q.magnitude = low; high != 0 {
		q.big = new(big.Int).SetUint64(uint64(high))
		q.big.Or(q.big.Lsh(q.big, 64), new(big.Int).SetUint64(low))
	}
	return l.Clamp(l.scaled().nearest(q), stratum)
}

// PlaceOfText is the place of a text that is a number, as digits with an optional sign, point and exponent. Every other
// text is NotANumber, which is a matter of the column's Unknown.
func (l *Lattice) PlaceOfText(text string, stratum int) (int64, Fit) {
	q, ok := parseQuantity(text)
	if !ok {
		return 0, NotANumber
	}
	return l.Clamp(l.scaled().nearest(q), stratum), Fits
}

// CountNull makes a null count as a number in the range. It is false, and changes nothing, for a text that is none, and
// without a lattice. It is for the reading of a column only.
func (l *Lattice) CountNull(text string) bool {
	if l == nil || !document.IsNumber(text) {
		return false
	}
	x, err := document.ParseNumber(text)
	if err != nil || x.Cmp(l.Value(l.First)) < 0 || x.Cmp(l.Value(l.Last)) > 0 {
		return false
	}
	x.Quo(x, l.Step).Add(x, big.NewRat(1, 2))
	l.null, l.nullIs = new(big.Int).Div(x.Num(), x.Denom()).Int64(), true
	return true
}

// NullIsNumber reports whether a null counts as a number.
func (l *Lattice) NullIsNumber() bool { return l.nullIs }

// PlaceOfNull is the place of a null, and of NaN, where the column's policy for them is As: that of the number they
// count as.
func (l *Lattice) PlaceOfNull(stratum int) int64 { return l.Clamp(l.null, stratum) }

// Clamp is the place in a stratum's range that is nearest to another. Clamping to the range of all first changes
// nothing.
//
// Guarantee: no place of a value, however it was read, lies beyond the range of its stratum. Neighbours: both
// relations. Argument: docs/proofs/lattice.md.
func (l *Lattice) Clamp(place int64, stratum int) int64 {
	first, last := l.Of(stratum)
	return min(max(place, first), last)
}

// Largest is the largest that a value, or its distance from any other in the range, is in steps.
func (l *Lattice) Largest() int64 { return max(-l.First, l.Last, l.Last-l.First) }

// scaled is the step as a fraction, also where the lattice was not read from a spec.
func (l *Lattice) scaled() scale {
	if l.scale.num == 0 {
		return scaleOf(l.Step)
	}
	return l.scale
}

// scale is a step num/den in lowest terms, both above 0 and at most 2^61, and den/num as the float64 nearest to it up
// to a few parts in 2^53.
type scale struct {
	num, den int64
	perUnit  float64
}

func scaleOf(step *big.Rat) scale {
	s := scale{num: step.Num().Int64(), den: step.Denom().Int64()}
	s.perUnit = float64(s.den) / float64(s.num)
	return s
}

// nearest is ⌊q·den/num + 1/2⌋, or the end of the 64-bit integers that it lies beyond. With q = ±m·10^-k, N = m·den and
// D = num·10^k that is ⌊(2N + D)/2D⌋ where q is positive, and −⌈(2N − D)/2D⌉ = −⌊(2N + D − 1)/2D⌋ where it is negative.
func (s scale) nearest(q quantity) int64 {
	if q.big != nil || q.exponent > 0 || q.exponent < -18 {
		return s.nearestBig(q)
	}
	over, d := bits.Mul64(uint64(s.num), powersOfTen[-q.exponent])
	if over != 0 || d >= 1<<63 {
		return s.nearestBig(q)
	}
	half := d
	if q.negative {
		half--
	}
	high, low := bits.Mul64(q.magnitude, 2*uint64(s.den))
	low, carry := bits.Add64(low, half, 0)
	if high += carry; high >= 2*d {
		return endOf(q.negative)
	}
	place, _ := bits.Div64(high, low, 2*d)
	switch {
	case place > math.MaxInt64:
		return endOf(q.negative)
	case q.negative:
		return -int64(place)
	}
	return int64(place)
}

// endOf is the end of the 64-bit integers that what is too large lies beyond.
func endOf(negative bool) int64 {
	if negative {
		return math.MinInt64
	}
	return math.MaxInt64
}

// nearestBig is nearest for long digits and large exponents. Steps are within 2^±61, so that numbers of 60 digits are
// beyond all places and those below 10^-60 nearest to 0.
func (s scale) nearestBig(q quantity) int64 {
	digits := q.digits()
	size := len(digits.String()) + q.exponent // the value is below 10^size
	switch {
	case digits.Sign() == 0 || size < -60:
		return 0
	case size > 60:
		return endOf(q.negative)
	}
	n, d := q.times(s.den, s.num)
	n.Lsh(n, 1).Add(n, d)
	n.Div(n, d.Lsh(d, 1)) // Euclidean: the floor, since d is positive
	if !n.IsInt64() {
		return endOf(q.negative)
	}
	return n.Int64()
}

// nearestFloat is nearest of the shortest decimal q of a float64, where floating point is sure of it. That decimal is
// within 2^-53 of v in proportion, den/num within 4·2^-53 of perUnit, and their product is rounded once more: t is
// within 7·2^-53·|t| of q·den/num, and its distance from its floor within 2^-54 of what it would be.
func (s scale) nearestFloat(v float64) (place int64, sure bool) {
	const slack = 1.0 / (1 << 50)
	t := float64(v * s.perUnit)
	if math.Abs(t) >= 1<<48 {
		return 0, false
	}
	floor := math.Floor(t)
	over := t - floor
	if math.Abs(over-0.5) <= float64((1+math.Abs(t))*slack) {
		return 0, false
	}
	place = int64(floor)
	if over > 0.5 {
		place++
	}
	return place, true
}

// Lattice is where the values of a bounded numeric column lie once they are clamped and rounded: multiples of Step from
// First·Step to Last·Step. A value is rounded to the nearest, halves up.
type Lattice struct {
	Step        *big.Rat
	First, Last int64
	// By is the column whose categories have ranges of their own, "" for one range of all. Strata are then the first and
	// last multiple for each of its finest codes, within First and Last.
	By     string
	Strata []Stratum
	// null is the place, before it is clamped, of what a null counts as, where the column says that.
	null   int64
	nullIs bool
	scale  scale // of Step
}

// Stratum is the range of the values of one category, in multiples of the step.
type Stratum struct{ First, Last int64 }
