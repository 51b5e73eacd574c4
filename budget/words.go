package budget

// This file formats numbers for people, in one way everywhere: the direction of rounding is in the name, digits are
// grouped, and small numbers are written as 1e-9.

import (
	"math/big"
	"strconv"
	"strings"
)

// Digits of an amount in a sentence: the exact digits if at most exactDigits suffice, and roundedDigits, rounded up, if
// not.
const (
	exactDigits   = 12
	roundedDigits = 7
)

// narrowSpace separates groups of three digits: the narrow no-break space.
const narrowSpace = "\u202f"

// Amount writes an ε, δ or ρ with its relation sign, to follow the letter in a sentence: "= 0.5" if at most 12 digits
// are exact, and "≤ 0.01497306", rounded up, if not.
func Amount(r *big.Rat) string {
	if r.Sign() <= 0 {
		return "= 0"
	}
	if text, exact := decimalUp(r, exactDigits); exact {
		return "= " + text
	}
	return "≤ " + DecimalUp(r, roundedDigits)
}

// Amounts writes the amounts that are not nil, such as "ε = 1 and δ = 1e-9". It leaves out a δ of 0, and writes
// "nothing" if there is no amount.
func Amounts(epsilon, rho, delta *big.Rat) string {
	var parts []string
	if epsilon != nil {
		parts = append(parts, "ε "+Amount(epsilon))
	}
	if rho != nil {
		parts = append(parts, "ρ "+Amount(rho))
	}
	if orZero(delta).Sign() > 0 {
		parts = append(parts, "δ "+Amount(delta))
	}
	if parts == nil {
		return "nothing"
	}
	return strings.Join(parts, " and ")
}

// DecimalUp writes the least decimal of at most digits significant digits that is at least r, such as "0.3334", "22
// 100" or "1e-9"; "0" for r ≤ 0. It is for bounds on a loss, which a shorter text must not understate.
func DecimalUp(r *big.Rat, digits int) string {
	text, _ := decimalUp(r, digits)
	return text
}

// SignificantUp is DecimalUp that keeps zeros at the end, so that all losses show the same number of digits: "1.000"
// and "0.2990".
func SignificantUp(r *big.Rat, digits int) string {
	text := DecimalUp(r, digits)
	if r.Sign() <= 0 || strings.Contains(text, "e") {
		return text
	}
	shown := len(strings.TrimLeft(strings.NewReplacer(".", "", narrowSpace, "").Replace(text), "0"))
	if shown >= digits {
		return text
	}
	if !strings.Contains(text, ".") {
		text += "."
	}
	return text + strings.Repeat("0", digits-shown)
}

// decimalUp is DecimalUp, and reports whether the text equals r.
func decimalUp(r *big.Rat, digits int) (text string, exact bool) {
	if r.Sign() <= 0 {
		return "0", r.Sign() == 0
	}
	point := decimalExponent(r) + 1 // r < 10^point
	scaled := new(big.Rat).Mul(r, scaleByTen(big.NewInt(1), digits-point))
	whole, rest := new(big.Int).QuoRem(scaled.Num(), scaled.Denom(), new(big.Int))
	exact = rest.Sign() == 0
	if !exact {
		whole.Add(whole, big.NewInt(1))
	}
	return placePoint(whole.String(), point, digits), exact
}

// RoundUp returns the least float of a decimal of at most digits significant digits that is at least v; v itself if it
// is not finite or not positive. Bounds that are compared byte by byte are kept in this form, since the last bits of a
// sum may differ between processors.
func RoundUp(v float64, digits int) float64 {
	r := new(big.Rat).SetFloat64(v)
	if r == nil || r.Sign() <= 0 {
		return v
	}
	below := decimalBelow(v, digits)
	up, _ := below.Float64()
	if up < v {
		step := scaleByTen(big.NewInt(1), decimalExponent(r)+1-digits)
		up, _ = below.Add(below, step).Float64()
	}
	return up
}

// decimalBelow returns the largest decimal of at most digits significant digits that is at most x > 0.
func decimalBelow(x float64, digits int) *big.Rat {
	r := new(big.Rat).SetFloat64(x)
	scale := digits - decimalExponent(r) - 1
	scaled := new(big.Rat).Mul(r, scaleByTen(big.NewInt(1), scale))
	return scaleByTen(new(big.Int).Quo(scaled.Num(), scaled.Denom()), -scale)
}

// DecimalNearest writes v ≥ 0 to the nearest decimal of at most digits significant digits, with all digits before the
// point: "5.288", "1 234 568". Halves go up; a value that is not finite is "–". It is for errors and scales, not for
// bounds on a loss.
func DecimalNearest(v float64, digits int) string {
	r := new(big.Rat).SetFloat64(v)
	switch {
	case r == nil:
		return "–"
	case r.Sign() <= 0:
		return "0"
	}
	point := decimalExponent(r) + 1
	if point <= exactDigits {
		digits = max(digits, point)
	}
	scaled := new(big.Rat).Mul(r, scaleByTen(big.NewInt(1), digits-point))
	scaled.Add(scaled, big.NewRat(1, 2))
	whole := new(big.Int).Quo(scaled.Num(), scaled.Denom())
	return placePoint(whole.String(), point, digits)
}

// Percent writes a fraction with one to three significant digits, such as "33.3%" or "0.952%". A fraction below 1 is
// never written as 100%.
func Percent(part float64) string {
	if part > 0.999 && part < 1 {
		return ">99.9%"
	}
	return DecimalNearest(float64(100*part), 3) + "%"
}

// Group writes a whole number in groups of three digits.
func Group(n int64) string { return GroupDigits(strconv.FormatInt(n, 10)) }

// GroupDigits separates the digits of a whole number, with or without a minus, into groups of three; up to four digits
// stay together.
func GroupDigits(whole string) string {
	digits, negative := strings.CutPrefix(whole, "-")
	sign := ""
	if negative {
		sign = "\u2212"
	}
	if len(digits) < 5 {
		return sign + digits
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + narrowSpace + digits[i:]
	}
	return sign + digits
}

// Plural counts things with a regular plural: "1 table", "12 tables".
func Plural(n int64, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return Group(n) + " " + thing
}

// decimalExponent returns the e with 10^e ≤ r < 10^(e+1), for r > 0.
func decimalExponent(r *big.Rat) int {
	e := len(r.Num().String()) - len(r.Denom().String())
	if scaleByTen(big.NewInt(1), e).Cmp(r) > 0 {
		e--
	}
	return e
}

// placePoint writes 0.significant × 10^point, as a decimal or with a power of ten, where significant has the given
// number of digits, or one more after 99…9 was rounded up.
func placePoint(significant string, point, digits int) string {
	point += len(significant) - digits
	significant = strings.TrimRight(significant, "0")
	switch {
	case point > exactDigits || point < -3:
		mantissa := significant[:1]
		if len(significant) > 1 {
			mantissa += "." + significant[1:]
		}
		return mantissa + "e" + strconv.Itoa(point-1)
	case point <= 0:
		return "0." + strings.Repeat("0", -point) + significant
	case point >= len(significant):
		return GroupDigits(significant + strings.Repeat("0", point-len(significant)))
	}
	return GroupDigits(significant[:point]) + "." + significant[point:]
}

// Decimal writes an exact number as a decimal if at most 12 decimal places suffice, and as a fraction if not.
func Decimal(x *big.Rat) string {
	const digits = 12
	text := x.FloatString(digits)
	if short, ok := new(big.Rat).SetString(text); !ok || short.Cmp(x) != 0 {
		return x.RatString()
	}
	return strings.TrimRight(strings.TrimRight(text, "0"), ".")
}
