// Package shading divides figures into classes that begin at round numbers, as maps and heat maps shade them.
package shading

// This file holds shades: classes of figures that begin at round numbers.

import (
	"fmt"
	"math"
	"strconv"

	"github.com/dprelease/dprelease/report/internal/words"
	"github.com/dprelease/dprelease/spec/language"
)

const (
	Most = 6
)

// shades divides figures into classes at round numbers.
type shades struct {
	breaks    []float64 // the lower ends of all classes but the first
	All       []int     // the shade of each class, 1 to 6
	low, high float64
}

// New finds at most `most` classes: of equal width or, if the largest figure is many times the smallest, of equal
// ratio.
func New(descending []float64, most int) shades {
	if len(descending) == 0 {
		return shades{}
	}
	s := shades{low: descending[len(descending)-1], high: descending[0]}
	if s.low > 0 && s.high > float64(25*s.low) {
		s.breaks = s.byFactor(most)
	} else {
		s.breaks = s.evenBreaks(most)
	}
	n := len(s.breaks) + 1
	for i := range n {
		s.All = append(s.All, 1+(2*i*(Most-1)+n-1)/max(2*(n-1), 1))
	}
	if n == 1 {
		s.All[0] = Most / 2
	}
	return s
}

// The powers of ten from which round numbers are made.
const LeastPower, MostPower = -9, 18

func Round(digit, power int) float64 {
	v, _ := strconv.ParseFloat(fmt.Sprintf("%de%d", digit, power), 64)
	return v
}

// byFactor returns breaks at 1, 2, 5, 10, 20 and so on or, if these are too many, only at powers of ten.
func (s shades) byFactor(most int) []float64 {
	var breaks []float64
	for _, digits := range [][]int{{1, 2, 5}, {1, 3}, {1}} {
		breaks = nil
		for power := LeastPower; power <= MostPower; power++ {
			for _, digit := range digits {
				if v := Round(digit, power); v > s.low && v <= s.high {
					breaks = append(breaks, v)
				}
			}
		}
		if len(breaks) < most {
			return breaks
		}
	}
	return breaks[len(breaks)-most+1:]
}

// Multiples returns the last multiple of a step at or below the lower figure, and how many more multiples there are up
// to the higher one: too many to show if the step is so small relative to the figures that a float64 does not
// distinguish its multiples.
func Multiples(low, high, step float64) (below float64, more int) {
	below = math.Floor(low / step)
	if max(math.Abs(low), math.Abs(high))/step >= 1<<52 {
		return below, math.MaxInt32
	}
	return below, int(min(math.Floor(high/step)-below, math.MaxInt32))
}

// evenBreaks returns breaks at multiples of 1, 2, 5, 10 and so on.
func (s shades) evenBreaks(most int) []float64 {
	for power := LeastPower; power <= MostPower; power++ {
		for _, digit := range []int{1, 2, 5} {
			step := Round(digit, power)
			below, steps := Multiples(s.low, s.high, step)
			if steps >= most {
				continue
			}
			var breaks []float64
			for k := 1; k <= steps+1 && len(breaks) < most-1; k++ {
				if v := float64((below + float64(k)) * step); v <= s.high {
					breaks = append(breaks, v)
				}
			}
			return breaks
		}
	}
	return nil
}

// Class returns the class of a figure.
func (s shades) Class(v float64) int {
	i := 0
	for i < len(s.breaks) && v >= s.breaks[i] {
		i++
	}
	return i
}

// Text describes the figures of a class.
func (s shades) Text(l *language.Language, i int) string {
	number := func(v float64) string { return l.Number(words.Signed(v)) }
	switch {
	case len(s.breaks) == 0 && s.low == s.high:
		return number(s.low)
	case len(s.breaks) == 0:
		return l.Text("%s to %s", number(s.low), number(s.high))
	case i == 0:
		return l.Text("below %s", number(s.breaks[0]))
	case i == len(s.breaks):
		return l.Text("%s or more", number(s.breaks[i-1]))
	}
	return l.Text("%s to below %s", number(s.breaks[i-1]), number(s.breaks[i]))
}
