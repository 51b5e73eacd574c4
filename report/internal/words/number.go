package words

// This file writes the few numbers for which a report has its own format; package budget writes the rest.

import (
	"encoding/json"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/internal/screen"
	"github.com/dprelease/dprelease/plan/describe"
)

// InHundred returns 1 − confidence in per cent.
func InHundred(confidence float64) string {
	miss := new(big.Rat).Sub(big.NewRat(1, 1), Exact(strconv.FormatFloat(confidence, 'g', -1, 64)))
	percent, _ := miss.Mul(miss, big.NewRat(100, 1)).Float64()
	return strconv.FormatFloat(percent, 'f', -1, 64)
}

// Rat shows an exact number, which may be negative, as a decimal; a number without one is returned unchanged.
func Rat(text string) string {
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		return text
	}
	if r.Sign() < 0 {
		return "−" + Rat(new(big.Rat).Neg(r).RatString())
	}
	if r.IsInt() {
		return budget.GroupDigits(r.Num().String())
	}
	if n, exact := r.FloatPrec(); exact && n <= 9 {
		return r.FloatString(n)
	}
	return text
}

// Exact reads an exact number. It returns nil if the text is not one.
func Exact(text string) *big.Rat {
	r, err := budget.ParseRat(text)
	if err != nil {
		return nil
	}
	return r
}

// Nearest shows an exact number in four significant digits.
func Nearest(text string) string {
	if r := Exact(text); r != nil {
		f, _ := r.Float64()
		return budget.DecimalNearest(f, 4)
	}
	return text
}

// RoundedUp shows an exact number in four significant digits, rounded up.
func RoundedUp(text string) string {
	if r := Exact(text); r != nil {
		return budget.DecimalUp(r, 4)
	}
	return text
}

// Figure writes a figure in full if it is whole and not huge, and otherwise in four significant digits.
func Figure(v float64) string {
	switch {
	case v == math.Trunc(v) && math.Abs(v) < 1e9:
		if v < 0 {
			return "−" + budget.Group(int64(-v))
		}
		return budget.Group(int64(v))
	case math.Abs(v) >= 1e9:
		return strings.NewReplacer("e+0", "e", "e+", "e", "-", "−").Replace(strconv.FormatFloat(v, 'e', 2, 64))
	}
	return Signed(v)
}

// Decimal shows an error in four significant digits, and whole numbers in full. From 1 to 10 it shows three: three
// decimals can be mistaken for thousands next to numbers in groups of three digits.
func Decimal(v float64) string {
	if v >= 1 && v < 10 {
		return budget.DecimalNearest(v, 3)
	}
	return budget.DecimalNearest(v, 4)
}

// Signed shows an estimate that may be negative, in the form of Decimal.
func Signed(v float64) string {
	if v < 0 {
		return "−" + Decimal(-v)
	}
	return Decimal(v)
}

// Number writes a sum: in full if it is whole, in the form of Signed if not, and as a dash for none.
func Number(n json.Number) string {
	if n == "" {
		return "–"
	}
	if !strings.Contains(n.String(), ".") {
		return budget.GroupDigits(n.String())
	}
	v, err := n.Float64()
	if err != nil {
		return n.String()
	}
	return Signed(v)
}

// Margin writes half the width of an interval, rounded up to a whole number.
func Margin(v float64) string { return budget.Group(describe.WholeMargin(v)) }

// Relative writes a ratio as a percentage, however large, in two significant digits.
func Relative(v float64) string { return budget.DecimalNearest(float64(100*v), 2) + "%" }

// Level writes a confidence as a percentage, rounded down to one decimal.
func Level(v float64) string {
	r := screen.Shortest(v)
	if r == nil {
		return "–"
	}
	thousandths := r.Mul(r, big.NewRat(1000, 1))
	whole := new(big.Int).Quo(thousandths.Num(), thousandths.Denom())
	return Decimal(float64(whole.Int64())/10) + "%"
}
