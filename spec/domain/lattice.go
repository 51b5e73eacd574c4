package domain

// This file holds the lattice: the multiples of a step to which the values of a numeric column are rounded. The index,
// or place, of a lattice point is its multiple.

import (
	"math"
	"math/big"
	"math/bits"

	"github.com/dprelease/dprelease/spec/document"
)

// newLattice returns the lattice of multiples of a step, from index first to index last. Numerator and denominator of
// the step fit 62 bits.
func newLattice(step *big.Rat, first, last int64) *Lattice {
	return &Lattice{Step: step, First: first, Last: last, scale: scaleOf(step)}
}

// NoStratum stands for no stratum: the range of all values.
const NoStratum = -1

// Bounds returns the first and last index of a stratum: a finest code of the column By, or Whole. A lattice without
// strata returns the range of all values.
func (l *Lattice) Bounds(stratum int) (first, last int64) {
	if l.By == "" || stratum < 0 {
		return l.First, l.Last
	}
	return l.Strata[stratum].First, l.Strata[stratum].Last
}

// PointCount returns the number of lattice points, or math.MaxUint32 if there are too many for codes of 32 bits.
func (l *Lattice) PointCount() int {
	if l.Last < l.First || uint64(l.Last)-uint64(l.First) >= math.MaxUint32 {
		return math.MaxUint32
	}
	return int(l.Last-l.First) + 1
}

// Value returns the number at an index.
func (l *Lattice) Value(place int64) *big.Rat {
	return new(big.Rat).Mul(l.Step, new(big.Rat).SetInt64(place))
}

// IndexOfInt returns the index of an integer: x = v/Step rounded to ⌊x + 1/2⌋ and clamped to the range of its stratum.
func (l *Lattice) IndexOfInt(v int64, stratum int) int64 {
	s := l.stepScale()
	if s.num == 1 && s.den == 1 {
		return l.Clamp(v, stratum)
	}
	return l.Clamp(s.nearestIndex(quantity{negative: v < 0, magnitude: magnitude(v)}), stratum)
}

// IndexOfFloat returns the index of a float64, taken as its shortest decimal that reads back the same. Infinities lie
// beyond all numbers and are clamped to an end. The fit is NaN for NaN and Fits for every other value.
func (l *Lattice) IndexOfFloat(v float64, stratum int) (int64, Fit) {
	switch {
	case math.IsNaN(v):
		return 0, NaN
	case math.IsInf(v, 1):
		return l.Clamp(math.MaxInt64, stratum), Fits
	case math.IsInf(v, -1):
		return l.Clamp(math.MinInt64, stratum), Fits
	case v == math.Trunc(v) && math.Abs(v) < 1<<53:
		return l.IndexOfInt(int64(v), stratum), Fits
	}
	s := l.stepScale()
	if place, sure := s.floatNearestIndex(v); sure {
		return l.Clamp(place, stratum), Fits
	}
	return l.Clamp(s.nearestIndex(quantityOfFloat(v)), stratum), Fits
}

// IndexOfDecimal returns the index of unscaled·10^-scale, where unscaled is a 128-bit integer in two's complement, as
// in Arrow's decimals.
func (l *Lattice) IndexOfDecimal(high int64, low uint64, scale int32, stratum int) int64 {
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
	return l.Clamp(l.stepScale().nearestIndex(q), stratum)
}

// IndexOfText returns the index of a text that is a number: digits with an optional sign, point and exponent. Every
// other text is NotANumber, which the column's policy for unknown values handles.
func (l *Lattice) IndexOfText(text string, stratum int) (int64, Fit) {
	q, ok := parseQuantity(text)
	if !ok {
		return 0, NotANumber
	}
	return l.Clamp(l.stepScale().nearestIndex(q), stratum), Fits
}

// CountNull makes a null count as a number in the range. It changes nothing and returns false if the text is not a
// number in the range, or if l is nil. Only the reader of a column may call it.
func (l *Lattice) CountNull(text string) bool {
	if l == nil || !document.IsNumber(text) {
		return false
	}
	x, err := document.ParseNumber(text)
	if err != nil || x.Cmp(l.Value(l.First)) < 0 || x.Cmp(l.Value(l.Last)) > 0 {
		return false
	}
	x.Quo(x, l.Step).Add(x, big.NewRat(1, 2))
	l.null, l.nullIsNumber = new(big.Int).Div(x.Num(), x.Denom()).Int64(), true
	return true
}

// NullIsNumber reports whether a null counts as a number.
func (l *Lattice) NullIsNumber() bool { return l.nullIsNumber }

// IndexOfNull returns the index of a null, and of NaN, where the column's policy for them is As: the index of the
// number that they count as.
func (l *Lattice) IndexOfNull(stratum int) int64 { return l.Clamp(l.null, stratum) }

// Clamp returns the index in a stratum's range that is nearest to the given one. Clamping to the range of all values
// first changes nothing.
//
// Guarantee: no index of a value, however it was read, lies beyond the range of its stratum. Neighbours: both
// relations. Argument: docs/proofs/lattice.md.
func (l *Lattice) Clamp(place int64, stratum int) int64 {
	first, last := l.Bounds(stratum)
	return min(max(place, first), last)
}

// Largest returns the largest magnitude, in steps, of a value and of the difference of two values of the range.
func (l *Lattice) Largest() int64 { return max(-l.First, l.Last, l.Last-l.First) }

// stepScale returns the step as a fraction, also for a lattice that was not read from a spec.
func (l *Lattice) stepScale() scale {
	if l.scale.num == 0 {
		return scaleOf(l.Step)
	}
	return l.scale
}

// scale is a step num/den in lowest terms, both above 0 and at most 2^61, with den/num as a float64: the nearest one up
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

// nearestIndex returns ⌊q·den/num + 1/2⌋, or the end of the 64-bit integers that it lies beyond. With q = ±m·10^-k, N =
// m·den and D = num·10^k that is ⌊(2N + D)/2D⌋ where q is positive, and −⌈(2N − D)/2D⌉ = −⌊(2N + D − 1)/2D⌋ where it is
// negative.
func (s scale) nearestIndex(q quantity) int64 {
	if q.big != nil || q.exponent > 0 || q.exponent < -18 {
		return s.bigNearestIndex(q)
	}
	over, d := bits.Mul64(uint64(s.num), powersOfTen[-q.exponent])
	if over != 0 || d >= 1<<63 {
		return s.bigNearestIndex(q)
	}
	half := d
	if q.negative {
		half--
	}
	high, low := bits.Mul64(q.magnitude, 2*uint64(s.den))
	low, carry := bits.Add64(low, half, 0)
	if high += carry; high >= 2*d {
		return saturate(q.negative)
	}
	place, _ := bits.Div64(high, low, 2*d)
	switch {
	case place > math.MaxInt64:
		return saturate(q.negative)
	case q.negative:
		return -int64(place)
	}
	return int64(place)
}

// saturate returns the least 64-bit integer for negative numbers and the greatest for positive ones.
func saturate(negative bool) int64 {
	if negative {
		return math.MinInt64
	}
	return math.MaxInt64
}

// bigNearestIndex is nearestIndex for long digits and large exponents. Steps are within 2^±61, so that numbers of 60
// digits are beyond all lattices and numbers below 10^-60 are nearest to 0.
func (s scale) bigNearestIndex(q quantity) int64 {
	digits := q.digits()
	size := len(digits.String()) + q.exponent // the value is below 10^size
	switch {
	case digits.Sign() == 0 || size < -60:
		return 0
	case size > 60:
		return saturate(q.negative)
	}
	n, d := q.fractionTimes(s.den, s.num)
	n.Lsh(n, 1).Add(n, d)
	n.Div(n, d.Lsh(d, 1)) // Euclidean: the floor, since d is positive
	if !n.IsInt64() {
		return saturate(q.negative)
	}
	return n.Int64()
}

// floatNearestIndex returns nearestIndex of the shortest decimal q of a float64, if floating point can decide it. That
// decimal is within 2^-53 of v in proportion, den/num within 4·2^-53 of perUnit, and their product is rounded once
// more: t is within 7·2^-53·|t| of q·den/num, and its distance from its floor within 2^-54 of what it would be.
func (s scale) floatNearestIndex(v float64) (place int64, sure bool) {
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

// Lattice is the set of values that a bounded numeric column takes once they are clamped and rounded: the multiples of
// Step from First·Step to Last·Step. A value is rounded to the nearest multiple, halves up.
type Lattice struct {
	Step        *big.Rat
	First, Last int64
	// By is the column whose categories have ranges of their own, "" for one range of all values. Strata are then the
	// first and last multiple for each of its finest codes, within First and Last.
	By     string
	Strata []Stratum
	// null is the unclamped index of the number that a null counts as, where nullIsNumber says that the column declares
	// one.
	null         int64
	nullIsNumber bool
	scale        scale // of Step
}

// Stratum is the range of the values of one category, in multiples of the step.
type Stratum struct{ First, Last int64 }
