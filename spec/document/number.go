package document

// This file reads numbers: exact rationals, from their text.

import (
	"errors"
	"math/big"
	"regexp"
	"strconv"
	"strings"
)

// The syntax of numbers, as regular expressions.
const (
	wholeSyntax    = `-?(0|[1-9][0-9]*)`
	decimalSyntax  = wholeSyntax + `(\.[0-9]+)?([eE][-+]?[0-9]+)?`
	fractionSyntax = wholeSyntax + `/[1-9][0-9]*`
	NumberSyntax   = `(` + decimalSyntax + `%?|` + fractionSyntax + `)`
)

var numberPattern = regexp.MustCompile(`^` + NumberSyntax + `$`)

// IsNumber reports whether a text is written as a number.
func IsNumber(text string) bool { return numberPattern.MatchString(text) }

// Bounds on the text of a number: longer ones are mistakes or attacks.
const (
	maxNumberText     = 200
	maxNumberExponent = 300
)

// ParseNumber reads an exact number: 12, 0.5, 2e6, 1e-9, 3/10 or 60%.
func ParseNumber(text string) (*big.Rat, error) {
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
