package domain

// This file reads one value of the data as an expression takes it.

import (
	"math"
	"math/big"

	"github.com/dprelease/dprelease/spec/calendar"
	"github.com/dprelease/dprelease/spec/expression"
)

// Reading describes how the values of a column that an expression names are read. Its methods return the number that
// stands for a value: for numbers a multiple of 10^-DecimalPlaces or a rank, for dates the days and for timestamps the
// microseconds since 1970-01-01, for booleans 1 or 0. The number is valid only with Fits.
type Reading struct{ expression.Input }

// OfText reads a text.
func (x *Reading) OfText(text string) (int64, Fit) {
	switch x.Reading {
	case expression.AnyNumber, expression.FixedNumber:
		q, ok := parseQuantity(text)
		if !ok {
			return 0, NotANumber
		}
		return x.ofQuantity(q)
	case expression.AsBoolean:
		switch text {
		case "true":
			return 1, Fits
		case "false":
			return 0, Fits
		}
		return 0, OutOfDomain
	case expression.AsDate, expression.AsDay:
		days, ok := calendar.ParseDate(text)
		if !ok && x.Reading == expression.AsDay {
			var micros int64
			micros, ok = calendar.ParseTimestamp(text)
			days = calendar.DayOf(micros)
		}
		return days, fitsIf(ok)
	case expression.AsTimestamp:
		micros, ok := calendar.ParseTimestamp(text)
		return micros, fitsIf(ok)
	}
	return 0, Fits
}

func fitsIf(ok bool) Fit {
	if ok {
		return Fits
	}
	return NotANumber
}

// isNumeric reports whether numbers are read.
func (x *Reading) isNumeric() bool {
	return x.Reading == expression.AnyNumber || x.Reading == expression.FixedNumber
}

// OfInt reads an integer.
func (x *Reading) OfInt(v int64) (int64, Fit) {
	switch {
	case x.isNumeric() && x.DecimalPlaces == 0:
		return x.encode(v, true)
	case x.isNumeric():
		return x.ofQuantity(quantity{negative: v < 0, magnitude: magnitude(v)})
	case x.Reading == expression.AsAnything:
		return 0, Fits
	}
	return 0, WrongType
}

// OfInts reads a batch of integers. It returns false if some value must be read by itself.
func (x *Reading) OfInts(values, out []int64) bool {
	if !x.isNumeric() || x.DecimalPlaces > 0 {
		return false
	}
	times, worst := int64(1), int64(0)
	if x.Reading == expression.AnyNumber {
		times = 2
	}
	out = out[:len(values)]
	for i, v := range values {
		worst |= v ^ v>>63
		out[i] = v * times
	}
	return worst < expression.MaxUnits
}

// OfFloat reads a float64 as its shortest decimal that reads back the same.
func (x *Reading) OfFloat(v float64) (int64, Fit) {
	switch {
	case x.Reading == expression.AsAnything:
		return 0, Fits
	case !x.isNumeric():
		return 0, WrongType
	case math.IsNaN(v):
		return 0, NaN
	case math.IsInf(v, 0):
		return 0, Infinite
	case v == math.Trunc(v) && math.Abs(v) < 1<<53:
		return x.OfInt(int64(v))
	}
	if floor, sure := x.floorOfFloat(v); sure {
		return x.encode(floor, false)
	}
	return x.ofQuantity(quantityOfFloat(v))
}

// floorOfFloat returns ⌊q·10^DecimalPlaces⌋ for the shortest decimal q of a float64, if floating point can decide it
// and that q·10^DecimalPlaces is no integer: q is within 2^-53 of v in proportion, the power is exact up to 10^22 and
// the product is rounded once, so that t is within 3·2^-53·|t| of q·10^DecimalPlaces.
func (x *Reading) floorOfFloat(v float64) (floor int64, sure bool) {
	const slack = 1.0 / (1 << 50)
	t := float64(v * float64(powersOfTen[x.DecimalPlaces]))
	if math.Abs(t) >= 1<<48 {
		return 0, false
	}
	f := math.Floor(t)
	over, near := t-f, float64((1+math.Abs(t))*slack)
	return int64(f), over > near && over < 1-near
}

// OfDecimal reads unscaled·10^-scale.
func (x *Reading) OfDecimal(unscaled *big.Int, scale int32) (int64, Fit) {
	switch {
	case x.Reading == expression.AsAnything:
		return 0, Fits
	case !x.isNumeric():
		return 0, WrongType
	}
	return x.ofQuantity(quantityOfDecimal(unscaled, scale))
}

// OfBool reads a boolean.
func (x *Reading) OfBool(v bool) (int64, Fit) {
	switch {
	case x.Reading == expression.AsBoolean && v:
		return 1, Fits
	case x.Reading == expression.AsBoolean || x.Reading == expression.AsAnything:
		return 0, Fits
	}
	return 0, WrongType
}

// OfDate reads a date, in days since 1970-01-01.
func (x *Reading) OfDate(days int32) (int64, Fit) {
	switch x.Reading {
	case expression.AsDate, expression.AsDay:
		if days < calendar.FirstDay || days > calendar.LastDay {
			return 0, OutOfDomain
		}
		return int64(days), Fits
	case expression.AsAnything:
		return 0, Fits
	}
	return 0, WrongType
}

// OfTimestamp reads a timestamp, in microseconds since 1970-01-01T00:00:00. As a date it fits only at midnight.
func (x *Reading) OfTimestamp(micros int64) (int64, Fit) {
	days := calendar.DayOf(micros)
	switch x.Reading {
	case expression.AsAnything:
		return 0, Fits
	case expression.AsDate, expression.AsDay, expression.AsTimestamp:
	default:
		return 0, WrongType
	}
	switch {
	case days < calendar.FirstDay || days > calendar.LastDay || x.Reading == expression.AsDate &&
		micros != days*calendar.MicrosPerDay:
		return 0, OutOfDomain
	case x.Reading == expression.AsTimestamp:
		return micros, Fits
	}
	return days, Fits
}

// ofQuantity returns a number counted in 10^-DecimalPlaces, or its rank.
func (x *Reading) ofQuantity(q quantity) (int64, Fit) {
	floor, exact, ok := q.floorTimes(int64(powersOfTen[x.DecimalPlaces]))
	if !ok {
		floor, exact = saturate(q.negative), true
	}
	return x.encode(floor, exact)
}

// encode returns the number that stands for ⌊x·10^DecimalPlaces⌋ or, if exact is false, for a number between it and the
// next integer.
func (x *Reading) encode(floor int64, exact bool) (int64, Fit) {
	beyond := floor > expression.MaxUnits || floor < -expression.MaxUnits
	switch {
	case x.Reading == expression.FixedNumber && (beyond || !exact), x.Bounded && beyond:
		return 0, OutOfDomain
	case x.Reading == expression.FixedNumber:
		return floor, Fits
	case floor > expression.MaxUnits:
		return 2*expression.MaxUnits + 1, Fits
	case floor < -expression.MaxUnits:
		return -2*expression.MaxUnits - 1, Fits
	case exact:
		return 2 * floor, Fits
	}
	return 2*floor + 1, Fits
}
