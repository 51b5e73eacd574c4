package budget

import (
	"math/big"
	"strings"
)

// Digits of an amount in a sentence: as many as are needed up to exactDigits,
// else roundedDigits, rounded up.
const (
	exactDigits   = 12
	roundedDigits = 7
)

// words writes a non-negative amount for a sentence: "= 0.5" where at most 12
// digits say it exactly, else "≤ 0.01497306", rounded up.
func words(r *big.Rat) string {
	if r.Sign() <= 0 {
		return "= 0"
	}
	if text, exact := decimalUp(r, exactDigits); exact {
		return "= " + text
	}
	text, _ := decimalUp(r, roundedDigits)
	return "≤ " + text
}

// decimalUp writes the least decimal of the given number of significant digits
// that is at least r > 0, and reports whether it equals r.
func decimalUp(r *big.Rat, digits int) (text string, exact bool) {
	point := decimalExponent(r) + 1 // r < 10^point
	scaled := new(big.Rat).Mul(r, scaleByTen(big.NewInt(1), digits-point))
	whole, rest := new(big.Int).QuoRem(scaled.Num(), scaled.Denom(), new(big.Int))
	exact = rest.Sign() == 0
	if !exact {
		whole.Add(whole, big.NewInt(1))
	}
	significant := whole.String()
	point += len(significant) - digits // one more digit where 99…9 was rounded up
	return placePoint(strings.TrimRight(significant, "0"), point), exact
}

// decimalExponent returns the e with 10^e ≤ r < 10^(e+1), for r > 0.
func decimalExponent(r *big.Rat) int {
	e := len(r.Num().String()) - len(r.Denom().String())
	if scaleByTen(big.NewInt(1), e).Cmp(r) > 0 {
		e--
	}
	return e
}

// placePoint writes 0.significant × 10^point, plainly or with a power of ten.
func placePoint(significant string, point int) string {
	switch {
	case point > exactDigits || point < -3:
		mantissa := significant[:1]
		if len(significant) > 1 {
			mantissa += "." + significant[1:]
		}
		return mantissa + "e" + big.NewInt(int64(point-1)).String()
	case point <= 0:
		return "0." + strings.Repeat("0", -point) + significant
	case point >= len(significant):
		return significant + strings.Repeat("0", point-len(significant))
	}
	return significant[:point] + "." + significant[point:]
}
