package screen

// This file writes a figure with the ends of its interval, so that the three are read together: in the report, and as
// show and query print them.

import (
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/dprelease/dprelease/budget"
)

const (
	mostDecimals = 12  // of a figure with a very short interval
	huge         = 1e9 // figures from here on are written with a power of ten
)

// Form is how a figure and both ends of its interval are written.
type Form struct {
	decimals int
	power    int // they are written as multiples of 10^power
}

// FormOf returns the form of a figure and its interval: with as many decimals as show two significant digits of the
// interval's width, and none for a whole figure whose interval is at least 1 wide. There are never exactly three
// decimals ([WithoutThree]). An end is nil if there is none; without a width that of a tenth of the figure is used.
func FormOf(figure float64, low, high *float64) Form {
	width := math.Abs(figure / 10)
	if low != nil && high != nil && *high > *low {
		width = *high - *low
		if isWhole(figure) && width >= 1 && math.Abs(figure) < huge {
			return Form{}
		}
	}
	if isWhole(figure) && (low == nil || isWhole(*low)) && (high == nil || isWhole(*high)) && math.Abs(figure) < huge {
		return Form{}
	}
	var f Form
	if math.Abs(figure) >= huge && math.Abs(figure) <= math.MaxFloat64 {
		for of := math.Abs(figure); of >= 10; of /= 10 {
			f.power, width = f.power+1, width/10
		}
	}
	for step := 10.0; width < step && f.decimals < mostDecimals; step /= 10 {
		f.decimals++
	}
	f.decimals = WithoutThree(f.decimals)
	return f
}

// isWhole reports whether a number is whole.
func isWhole(v float64) bool { return v == math.Trunc(v) }

// Nearest writes the figure, Down the lower end of its interval and Up the upper one: they are rounded outwards, so
// that the interval shown holds the exact one.
func (f Form) Nearest(v float64) string {
	return f.write(v, func(r *big.Rat) *big.Int { return floor(r.Add(r, big.NewRat(1, 2))) })
}

func (f Form) Down(v float64) string { return f.write(v, floor) }

func (f Form) Up(v float64) string { return f.write(v, ceiling) }

// floor rounds down: a denominator is positive.
func floor(r *big.Rat) *big.Int { return new(big.Int).Div(r.Num(), r.Denom()) }

// ceiling rounds up.
func ceiling(r *big.Rat) *big.Int {
	n := floor(new(big.Rat).Neg(r))
	return n.Neg(n)
}

// UpExact writes an exact bound, rounded up.
func (f Form) UpExact(r *big.Rat) string { return f.writeExact(r, ceiling) }

func (f Form) write(v float64, round func(*big.Rat) *big.Int) string {
	r := Shortest(v)
	if r == nil {
		return "–"
	}
	return f.writeExact(r, round)
}

func (f Form) writeExact(r *big.Rat, round func(*big.Rat) *big.Int) string {
	ten := func(n int) *big.Rat {
		return new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil))
	}
	scaled := new(big.Rat).Mul(r, ten(f.decimals))
	n := round(scaled.Quo(scaled, ten(f.power)))
	digits := new(big.Int).Abs(n).String()
	if missing := f.decimals + 1 - len(digits); missing > 0 {
		digits = strings.Repeat("0", missing) + digits
	}
	point := len(digits) - f.decimals
	text := budget.GroupDigits(digits[:point])
	if f.decimals > 0 {
		text += "." + digits[point:]
	}
	if f.power > 0 {
		text += "e" + strconv.Itoa(f.power)
	}
	if n.Sign() < 0 {
		text = "−" + text
	}
	return text
}

// Shortest returns the shortest decimal that is read as a float, which is how it is written in JSON; nil if it is not
// finite.
func Shortest(v float64) *big.Rat {
	r, ok := new(big.Rat).SetString(strconv.FormatFloat(v, 'g', -1, 64))
	if !ok {
		return nil
	}
	return r
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

// FormWith returns the form with a number of decimals, as far as that is from 0 to 12.
func FormWith(decimals int) Form { return Form{decimals: min(max(decimals, 0), mostDecimals)} }

// WithoutThree returns a number of decimals, or four instead of three: three decimals can be mistaken for thousands
// next to numbers in groups of three digits.
func WithoutThree(decimals int) int {
	if decimals == 3 {
		return 4
	}
	return decimals
}
