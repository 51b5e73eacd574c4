package report

import (
	"encoding/json"
	"math/big"
	"strconv"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan/describe"
)

// decimal shows an error in four significant digits, and whole numbers in full.
func decimal(v float64) string { return budget.DecimalNearest(v, 4) }

// signed shows an estimate that may be below zero, as decimal does.
func signed(v float64) string {
	if v < 0 {
		return "−" + decimal(-v)
	}
	return decimal(v)
}

// number writes a sum: a whole one in full, another as signed does, a dash for none.
func number(n json.Number) string {
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
	return signed(v)
}

// margin writes half the width of an interval, rounded up to a whole number.
func margin(v float64) string { return budget.Group(describe.WholeMargin(v)) }

// relative writes a ratio as a percentage, however large, in two significant
// digits.
func relative(v float64) string { return budget.DecimalNearest(float64(100*v), 2) + "%" }

// level writes a confidence as a percentage, rounded down to one decimal.
func level(v float64) string {
	r, ok := new(big.Rat).SetString(strconv.FormatFloat(v, 'g', -1, 64))
	if !ok {
		return "–"
	}
	thousandths := r.Mul(r, big.NewRat(1000, 1))
	whole := new(big.Int).Quo(thousandths.Num(), thousandths.Denom())
	return decimal(float64(whole.Int64())/10) + "%"
}
