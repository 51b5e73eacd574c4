package report

// This file holds how numbers are written: grouped, in a direction of rounding
// that its name tells, and the same on every machine.

import (
	"math/big"
	"strconv"
	"strings"
)

// thin parts groups of three digits: a narrow space that never breaks a line.
const thin = "\u202f"

// group writes a whole number in groups of three digits.
func group(n int64) string { return groupText(strconv.FormatInt(n, 10)) }

// groupText groups the digits of a whole number; those of four digits stay whole.
func groupText(s string) string {
	digits := strings.TrimPrefix(s, "-")
	sign := ""
	if len(digits) < len(s) {
		sign = "\u2212"
	}
	if len(digits) < 5 {
		return sign + digits
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + thin + digits[i:]
	}
	return sign + digits
}

// roundUp writes a positive number with at most some significant digits, never
// below it.
func roundUp(v *big.Rat, digits int) string { return round(v, digits, true) }

// roundNear writes a positive number with at most some significant digits.
func roundNear(v *big.Rat, digits int) string { return round(v, digits, false) }

func round(v *big.Rat, digits int, up bool) string {
	if v.Sign() <= 0 {
		return "0"
	}
	exponent := exponentOf(v)
	unit := powerOfTen(exponent - digits + 1)
	steps := new(big.Rat).Quo(v, unit)
	if !up {
		steps.Add(steps, big.NewRat(1, 2))
	}
	whole, rest := new(big.Int).QuoRem(steps.Num(), steps.Denom(), new(big.Int))
	if up && rest.Sign() > 0 {
		whole.Add(whole, big.NewInt(1))
	}
	rounded := unit.Mul(unit, new(big.Rat).SetInt(whole))
	if exponent < -4 {
		return scientific(rounded)
	}
	text := strings.TrimSuffix(trimZeros(rounded.FloatString(max(0, digits-1-exponent))), ".")
	if rounded.IsInt() {
		return groupText(text)
	}
	return text
}

// exponentOf is the e for which 10^e ≤ v < 10^(e+1).
func exponentOf(v *big.Rat) int {
	e := len(v.Num().String()) - len(v.Denom().String())
	if v.Cmp(powerOfTen(e)) < 0 {
		e--
	}
	return e
}

// scientific writes a small number such as 1e-9 or 2.5e-7.
func scientific(v *big.Rat) string {
	e := exponentOf(v)
	mantissa := new(big.Rat).Quo(v, powerOfTen(e))
	return trimZeros(mantissa.FloatString(20)) + "e" + strconv.Itoa(e)
}

func trimZeros(s string) string {
	if !strings.Contains(s, ".") {
		return s
	}
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

// powerOfTen is 10^e exactly.
func powerOfTen(e int) *big.Rat {
	p := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(e, -e))), nil)
	if e < 0 {
		return new(big.Rat).SetFrac(big.NewInt(1), p)
	}
	return new(big.Rat).SetInt(p)
}

// decimal shows four significant digits of a float, and whole numbers in full.
func decimal(v float64) string {
	r := new(big.Rat).SetFloat64(v)
	if r == nil {
		return "–"
	}
	return roundNear(r, max(4, exponentOf(nonZero(r))+1))
}

func nonZero(r *big.Rat) *big.Rat {
	if r.Sign() <= 0 {
		return big.NewRat(1, 1)
	}
	return r
}

// share writes a part of one as a percentage with three significant digits at
// most, one decimal at most; what is not quite nothing or all never reads so.
func share(v float64) string {
	switch {
	case v <= 0:
		return "0%"
	case v >= 1:
		return "100%"
	case v < 0.001:
		return "<0.1%"
	case v > 0.999:
		return ">99.9%"
	}
	return trimZeros(strconv.FormatFloat(float64(100*v), 'f', 1, 64)) + "%"
}

// relative writes a ratio as a percentage, however large, in two significant
// digits.
func relative(v float64) string {
	r := new(big.Rat).SetFloat64(v)
	if r == nil || r.Sign() <= 0 {
		return "0%"
	}
	return roundNear(r.Mul(r, big.NewRat(100, 1)), max(2, exponentOf(r)+1)) + "%"
}

// level writes a confidence as a percentage, rounded down to one decimal.
func level(v float64) string {
	r, ok := new(big.Rat).SetString(strconv.FormatFloat(v, 'g', -1, 64))
	if !ok {
		return "–"
	}
	tenths := r.Mul(r, big.NewRat(1000, 1))
	whole := new(big.Int).Quo(tenths.Num(), tenths.Denom())
	return trimZeros(new(big.Rat).SetFrac(whole, big.NewInt(10)).FloatString(1)) + "%"
}

// many writes a number with a noun, such as "1 table" or "12 tables".
func many(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return group(n) + " " + noun + "s"
}
