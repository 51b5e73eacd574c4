package words

// This file writes figures that stand below one another with equally many decimals, so that they line up.

import (
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/internal/screen"
)

// FormOfColumn returns the form of errors and estimates below one another: none has decimals if all are whole.
// Otherwise the largest shows four significant digits, or three from 1 to 10 as in Decimal, and the smallest at least
// two, or three from 1 on. Zeros need no digits, and decimals that are 0 in all are left out.
func FormOfColumn(values []float64) screen.Form {
	small, large, whole := extent(values)
	if whole {
		return screen.Form{}
	}
	most := 4
	if large >= 1 && large < 10 {
		most = 3
	}
	least := 2
	if small >= 1 {
		least = 3
	}
	decimals := screen.WithoutThree(max(decimalsOf(large, most), decimalsOf(small, least)))
	for decimals > 1 && allEndInZero(values, decimals) {
		decimals--
	}
	return screen.FormWith(screen.WithoutThree(decimals))
}

// allEndInZero reports whether all figures have a last decimal of 0.
func allEndInZero(values []float64, decimals int) bool {
	f := screen.FormWith(decimals)
	return !slices.ContainsFunc(values, func(v float64) bool { return !strings.HasSuffix(f.Nearest(v), "0") })
}

// FormOfPercentages returns the form of percentages below one another, given as parts of 1: none has decimals if all
// are whole. Otherwise they have one, two if the smallest needs them for its third digit, and more only if it would be
// written as 0 or the largest with one digit.
func FormOfPercentages(parts []float64) screen.Form {
	hundredths := make([]float64, len(parts))
	for i, part := range parts {
		hundredths[i] = float64(100 * part)
	}
	small, large, whole := extent(hundredths)
	if whole {
		return screen.Form{}
	}
	decimals := max(1, min(2, decimalsOf(small, 3)), decimalsOf(small, 1), decimalsOf(large, 2))
	return screen.FormWith(decimals)
}

// FormOfLevels returns the form of confidences below one another: they have one decimal, or none if all are whole in
// Level.
func FormOfLevels(confidences []float64) screen.Form {
	if slices.ContainsFunc(confidences, func(v float64) bool { return strings.Contains(Level(v), ".") }) {
		return screen.FormWith(1)
	}
	return screen.Form{}
}

// FormOfLosses returns the form of exact privacy losses below one another: the smallest shows four significant digits.
// A loss that is not bounded is nil.
func FormOfLosses(losses []*big.Rat) screen.Form {
	var values []float64
	for _, r := range losses {
		if r != nil {
			v, _ := r.Float64()
			values = append(values, v)
		}
	}
	small, _, _ := extent(values)
	return screen.FormWith(decimalsOf(small, 4))
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
