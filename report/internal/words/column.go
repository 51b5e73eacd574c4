package words

// This file writes figures that stand below one another with equally many decimals, so that they line up.

import (
	"math"
	"math/big"
	"slices"
	"strings"
)

// FormOfColumn returns the form of errors and estimates below one another: none has decimals if all are whole.
// Otherwise the largest shows four significant digits, or three from 1 to 10 as in Decimal, and the smallest at least
// two, or three from 1 on. Zeros need no digits, and decimals that are 0 in all are left out.
func FormOfColumn(values []float64) Form {
	small, large, whole := extent(values)
	if whole {
		return Form{}
	}
	most := 4
	if large >= 1 && large < 10 {
		most = 3
	}
	least := 2
	if small >= 1 {
		least = 3
	}
	f := Form{}.atLeast(max(decimalsOf(large, most), decimalsOf(small, least)))
	for f.decimals > 1 && f.endsInZero(values) {
		f.decimals--
	}
	return f.atLeast(f.decimals)
}

// endsInZero reports whether all figures have a last decimal of 0.
func (f Form) endsInZero(values []float64) bool {
	return !slices.ContainsFunc(values, func(v float64) bool { return !strings.HasSuffix(f.Nearest(v), "0") })
}

// FormOfPercentages returns the form of percentages below one another, given as parts of 1: none has decimals if all
// are whole. Otherwise they have one, two if the smallest needs them for its third digit, and more only if it would be
// written as 0 or the largest with one digit.
func FormOfPercentages(parts []float64) Form {
	hundredths := make([]float64, len(parts))
	for i, part := range parts {
		hundredths[i] = float64(100 * part)
	}
	small, large, whole := extent(hundredths)
	if whole {
		return Form{}
	}
	decimals := max(1, min(2, decimalsOf(small, 3)), decimalsOf(small, 1), decimalsOf(large, 2))
	return Form{decimals: min(decimals, mostDecimals)}
}

// FormOfLevels returns the form of confidences below one another: they have one decimal, or none if all are whole in
// Level.
func FormOfLevels(confidences []float64) Form {
	if slices.ContainsFunc(confidences, func(v float64) bool { return strings.Contains(Level(v), ".") }) {
		return Form{decimals: 1}
	}
	return Form{}
}

// FormOfLosses returns the form of exact privacy losses below one another: the smallest shows four significant digits.
// A loss that is not bounded is nil.
func FormOfLosses(losses []*big.Rat) Form {
	var values []float64
	for _, r := range losses {
		if r != nil {
			v, _ := r.Float64()
			values = append(values, v)
		}
	}
	small, _, _ := extent(values)
	return Form{decimals: min(max(decimalsOf(small, 4), 0), mostDecimals)}
}

// FormOfFigures returns the form of figures below one another, given the form of each with its interval: with the most
// decimals of all.
func FormOfFigures(forms []Form) (common Form) {
	for _, f := range forms {
		if f.power == 0 {
			common.decimals = max(common.decimals, f.decimals)
		}
	}
	return common
}

// In returns the form of one of the figures of a common form: its own if it is written with a power of ten.
func (f Form) In(common Form) Form {
	if f.power > 0 {
		return f
	}
	return common
}

// Percentage writes a part of 1. A part below 1 is never written as 100%.
func (f Form) Percentage(part float64) string {
	text := f.Nearest(float64(100 * part))
	if part < 1 && strings.HasPrefix(text, "100") {
		return ">99.9%"
	}
	return text + "%"
}

// Level writes a confidence, rounded down.
func (f Form) Level(v float64) string {
	r := Shortest(v)
	if r == nil {
		return "–"
	}
	return f.writeExact(r.Mul(r, big.NewRat(100, 1)), floor) + "%"
}

// atLeast returns a form with a number of decimals, which is never three.
func (f Form) atLeast(decimals int) Form {
	f.decimals = min(max(decimals, 0), mostDecimals)
	if f.decimals == 3 {
		f.decimals = 4
	}
	return f
}

// extent returns the smallest and the largest absolute value of figures other than zero, and reports whether all are
// whole numbers; 1 and 1 if there are none.
func extent(values []float64) (small, large float64, whole bool) {
	const tolerance = 1e-9 // of a whole percentage that was computed
	small, large, whole = math.Inf(1), 0, true
	for _, v := range values {
		v = math.Abs(v)
		if v == 0 || math.IsNaN(v) || math.IsInf(v, 0) {
			continue
		}
		small, large = min(small, v), max(large, v)
		whole = whole && math.Abs(v-math.Round(v)) < tolerance && v > tolerance
	}
	if large == 0 {
		return 1, 1, true
	}
	return small, large, whole
}

// decimalsOf returns the number of decimals that show a number in so many significant digits; it is negative if the
// number has more digits before its point.
func decimalsOf(v float64, significant int) int {
	decimals := significant - 1
	for ; v >= 10; v /= 10 {
		decimals--
	}
	for ; v < 1; v *= 10 {
		decimals++
	}
	return decimals
}
