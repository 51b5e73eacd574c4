package document

// This file writes the numbers of a spec.

import (
	"math"
	"math/big"
	"strconv"
)

// FormatNumber writes a number as a decimal if it has at most 30 places, and otherwise as a fraction.
func FormatNumber(x *big.Rat) string {
	if places, exact := x.FloatPrec(); exact && places <= mostDigits {
		return x.FloatString(places)
	}
	return x.RatString()
}

// mostDigits is the largest number of decimal places that are written; numbers with more are written as fractions.
const mostDigits = 30

// ShortNumber writes a number exactly if that takes few digits, and otherwise to six significant digits.
func ShortNumber(x *big.Rat) string {
	if exact := FormatNumber(x); len(exact) <= 12 {
		return exact
	}
	return "about " + new(big.Float).SetRat(x).Text('g', 6)
}

// FormatShare writes a share as an exact fraction and as a percentage.
func FormatShare(x *big.Rat) string {
	percent := new(big.Rat).Mul(x, big.NewRat(100, 1))
	if places, exact := percent.FloatPrec(); exact && places <= 6 {
		return x.RatString() + " (" + percent.FloatString(places) + "%)"
	}
	return x.RatString() + " (about " + percent.FloatString(6) + "%)"
}

// MaxWhole bounds the integers of a spec, so that sums of two of them are 64-bit integers.
const MaxWhole = 1 << 61

// AppendFraction appends at/den in the form of FormatNumber. It uses long division where that ends within mostDigits
// places, because ranges have very many points.
func AppendFraction(b []byte, at, den int64) []byte {
	whole, rest, out := at/den, at%den, b
	if at < 0 {
		whole, rest, out = -whole, -rest, append(out, '-')
	}
	out = strconv.AppendInt(out, whole, 10)
	if rest > 0 {
		out = append(out, '.')
	}
	for places := 0; rest > 0; places++ {
		if places == mostDigits || rest > math.MaxInt64/10 {
			return append(b, FormatNumber(big.NewRat(at, den))...)
		}
		rest *= 10
		out = append(out, byte('0'+rest/den))
		rest %= den
	}
	return out
}
