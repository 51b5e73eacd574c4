package screen

import (
	"math"
	"strconv"
	"strings"

	"github.com/dprelease/dprelease/budget"
)

// This file formats figures for people.

// Aligned sets rows in columns: the first ones aligned left, the others right.
func Aligned(rows [][]string, left int) string {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], Width(cell))
		}
	}
	var b strings.Builder
	for _, row := range rows {
		line := ""
		for i, cell := range row {
			pad := strings.Repeat(" ", widths[i]-Width(cell))
			if i > 0 {
				line += "   "
			}
			if i < left {
				line += cell + pad
			} else {
				line += pad + cell
			}
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}

// Decimals returns with how many decimals a figure is printed: none for a whole one, otherwise so many that three
// digits of its error show.
func Decimals(deviation float64, whole bool) int {
	if whole || !(deviation > 0) {
		return 0
	}
	return max(0, min(9, 2-int(math.Floor(math.Log10(deviation)))))
}

// Figure formats a figure with a true minus sign and groups of digits.
func Figure(v float64, decimals int) string {
	text := strconv.FormatFloat(math.Abs(v), 'f', decimals, 64)
	whole, rest, point := strings.Cut(text, ".")
	out := budget.GroupDigits(whole)
	if point {
		out += "." + rest
	}
	if v < 0 && strings.Trim(text, "0.") != "" {
		return "−" + out
	}
	return out
}

// Shortly formats seven digits of a figure.
func Shortly(v float64) string { return Minus(strconv.FormatFloat(v, 'g', 7, 64)) }

// Exactly formats all digits of a figure.
func Exactly(v float64) string { return Minus(strconv.FormatFloat(v, 'g', -1, 64)) }

func Minus(text string) string { return strings.ReplaceAll(text, "-", "−") }

// PercentDown formats a probability in percent, rounded down.
func PercentDown(p float64) string {
	return strconv.FormatFloat(math.Floor(p*1e4)/1e2, 'f', 2, 64) + "%"
}
