package budget

import (
	"fmt"
	"math/big"
	"strings"
)

// The largest text, and the largest power of ten, that [ParseRat] accepts. They
// keep a hostile file from asking for a number of a million digits.
const (
	maxRatText     = 16384
	maxRatExponent = 400
)

// ParseRat reads an exact rational number: an integer "3", a fraction "1/3", a
// decimal "0.25" or a decimal with a power of ten "1e-9". Signs are allowed,
// spaces, underscores and other bases are not. The value is never rounded.
//
// It returns an error for any other text, for a zero denominator, and for text
// longer than 16384 characters or powers of ten beyond ±400.
func ParseRat(text string) (*big.Rat, error) {
	if len(text) > maxRatText {
		return nil, fmt.Errorf("a number of %d characters is too long: at most %d are read", len(text), maxRatText)
	}
	if numerator, denominator, isFraction := strings.Cut(text, "/"); isFraction {
		return parseFraction(text, numerator, denominator)
	}
	return parseDecimal(text)
}

func parseFraction(text, numerator, denominator string) (*big.Rat, error) {
	if !isInteger(numerator) || !isDigits(denominator) {
		return nil, notANumber(text)
	}
	a, _ := new(big.Int).SetString(numerator, 10)
	b, _ := new(big.Int).SetString(denominator, 10)
	if b.Sign() == 0 {
		return nil, fmt.Errorf("%q divides by zero", text)
	}
	return new(big.Rat).SetFrac(a, b), nil
}

func parseDecimal(text string) (*big.Rat, error) {
	mantissa, power := text, 0
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		var err error
		if power, err = parsePower(text, text[i+1:]); err != nil {
			return nil, err
		}
		mantissa = text[:i]
	}
	whole, fraction, hasPoint := strings.Cut(mantissa, ".")
	if !isInteger(whole) || hasPoint && !isDigits(fraction) {
		return nil, notANumber(text)
	}
	digits, _ := new(big.Int).SetString(whole+fraction, 10)
	return scaleByTen(digits, power-len(fraction)), nil
}

func parsePower(text, exponent string) (int, error) {
	if !isInteger(exponent) {
		return 0, notANumber(text)
	}
	power, _ := new(big.Int).SetString(exponent, 10)
	if power.CmpAbs(big.NewInt(maxRatExponent)) > 0 {
		return 0, fmt.Errorf("%q has a power of ten beyond ±%d", text, maxRatExponent)
	}
	return int(power.Int64()), nil
}

// scaleByTen returns digits × 10^power exactly.
func scaleByTen(digits *big.Int, power int) *big.Rat {
	ten := big.NewInt(10)
	if power >= 0 {
		factor := new(big.Int).Exp(ten, big.NewInt(int64(power)), nil)
		return new(big.Rat).SetInt(factor.Mul(factor, digits))
	}
	return new(big.Rat).SetFrac(digits, new(big.Int).Exp(ten, big.NewInt(int64(-power)), nil))
}

func isInteger(s string) bool {
	if s != "" && (s[0] == '-' || s[0] == '+') {
		s = s[1:]
	}
	return isDigits(s)
}

func isDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

func notANumber(text string) error {
	return fmt.Errorf("%q is not a number: write an integer, a fraction like 1/3 or a decimal like 0.25",
		clipText(text))
}

func clipText(text string) string {
	if len(text) > 40 {
		return text[:40] + "…"
	}
	return text
}

// FormatRat writes r canonically: "a" when it is an integer, else "a/b" in
// lowest terms with a positive denominator. ParseRat(FormatRat(r)) equals r; a
// nil r is written as "".
func FormatRat(r *big.Rat) string {
	if r == nil {
		return ""
	}
	return r.RatString()
}

// RootBelow returns the largest multiple of 2^−bits whose square is at most x ≥ 0.
func RootBelow(x *big.Rat, bits uint) *big.Rat {
	scaled := new(big.Int).Lsh(x.Num(), 2*bits)
	scaled.Quo(scaled, x.Denom())
	return new(big.Rat).SetFrac(scaled.Sqrt(scaled), new(big.Int).Lsh(big.NewInt(1), bits))
}
