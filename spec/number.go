package spec

// This file holds how the numbers of a spec are written.

import (
	"math/big"
)

// formatNumber writes a number as a decimal where it is one of at most 30 places, else as a
// fraction.
func formatNumber(x *big.Rat) string {
	if places, exact := x.FloatPrec(); exact && places <= mostDigits {
		return x.FloatString(places)
	}
	return x.RatString()
}

// mostDigits is how many places a number is written with; with more, and without end, it is a fraction.
const mostDigits = 30

// shortNumber writes a number exactly where that takes few digits, else to six.
func shortNumber(x *big.Rat) string {
	if exact := formatNumber(x); len(exact) <= 12 {
		return exact
	}
	return "about " + new(big.Float).SetRat(x).Text('g', 6)
}

// formatShare writes a share as an exact fraction and as a percentage.
func formatShare(x *big.Rat) string {
	percent := new(big.Rat).Mul(x, big.NewRat(100, 1))
	if places, exact := percent.FloatPrec(); exact && places <= 6 {
		return x.RatString() + " (" + percent.FloatString(places) + "%)"
	}
	return x.RatString() + " (about " + percent.FloatString(6) + "%)"
}

// maxWhole bounds the integers of a spec, so that sums of two of them are 64-bit integers.
const maxWhole = 1 << 61
