package spec

// This file holds the numbers of a spec: exact rationals read from their text.

import (
	"errors"
	"math/big"
	"regexp"
	"strconv"
	"strings"
)

const (
	wholeSyntax    = `-?(0|[1-9][0-9]*)`
	decimalSyntax  = wholeSyntax + `(\.[0-9]+)?([eE][-+]?[0-9]+)?`
	fractionSyntax = wholeSyntax + `/[1-9][0-9]*`
	numberSyntax   = `(` + decimalSyntax + `%?|` + fractionSyntax + `)`
)

var numberPattern = regexp.MustCompile(`^` + numberSyntax + `$`)

// The most that a number of a spec may take: longer ones are mistakes or attacks.
const (
	maxNumberText     = 200
	maxNumberExponent = 300
)

// parseNumber reads an exact number: 12, 0.5, 2e6, 1e-9, 3/10 or 60%.
func parseNumber(text string) (*big.Rat, error) {
	if len(text) > maxNumberText {
		return nil, errors.New("a number of more than 200 characters")
	}
	if !numberPattern.MatchString(text) {
		return nil, errors.New("not a number")
	}
	body, percent := strings.CutSuffix(text, "%")
	if _, exponent, found := strings.Cut(strings.ToLower(body), "e"); found {
		e, err := strconv.Atoi(exponent)
		if err != nil || e < -maxNumberExponent || e > maxNumberExponent {
			return nil, errors.New("an exponent beyond ±300")
		}
	}
	x, ok := new(big.Rat).SetString(body)
	if !ok {
		return nil, errors.New("not a number")
	}
	if percent {
		x.Quo(x, big.NewRat(100, 1))
	}
	return x, nil
}

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
