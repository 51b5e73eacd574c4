package release

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// This file holds the populations whose figures are known: their rows, the file that has them, and every statistic
// worked out from the rows alone, clamped and rounded as the spec says.

// Groups of a population. Each has figureCopies cells, of three variants in turn, so that a cell that takes what
// belongs to its neighbour is noticed.
var groupNames = []string{"skewed", "heavy", "equal", "tiny", "empty"}

const (
	figureCopies  = 12_500
	groupVariants = 3
	fullGroup     = 36 // rows

	// of weights where there are any
	weightLow, weightHigh, weightStep = 0.5, 4, 0.5
)

// knownRow is a row as the file has it. times says how often its unit has it.
type knownRow struct {
	x, s, w float64
	c       string
	times   int
}

// groupRows are the rows of a variant of a group, before anything is clamped.
func groupRows(group string, variant int) []knownRow {
	n := map[string]int{"skewed": fullGroup, "heavy": fullGroup, "equal": fullGroup, "tiny": 2}[group]
	rows := make([]knownRow, n)
	for i := range rows {
		x := 0.0
		switch group {
		case "skewed":
			x = 8 * math.Pow(1.13, float64(i)) // 8 to 940
		case "heavy":
			x = 30 / math.Pow((float64(i)+0.5)/fullGroup, 1.3) // 30 to 8900, of which the largest are clamped
		case "equal":
			x = 380
		case "tiny":
			x = 700 * float64(i)
		}
		rows[i] = knownRow{
			x: math.Round(x) + 10*float64(variant), s: float64(1 + (i+variant)%9), w: 0.3 + 0.9*float64(i%6),
			c: []string{"a", "a", "b", "a", "b", "c"}[(i+variant)%6], times: 3 - 2*min(i%3, 1),
		}
	}
	return rows
}

// writeKnown writes t.csv; with ids every row as often as it says, and else once.
func writeKnown(t testing.TB, dir string, ids bool) {
	t.Helper()
	var text strings.Builder
	text.WriteString("id,kind,copy,x,s,c,w\n")
	id := 0
	for _, group := range groupNames {
		var variants [groupVariants][]knownRow
		for v := range variants {
			variants[v] = groupRows(group, v)
		}
		for place := range figureCopies {
			for _, r := range variants[place%groupVariants] {
				id++
				times := 1
				if ids {
					times = r.times
				}
				line := fmt.Sprintf(",%s,%d,%g,%g,%s,%.1f\n", group, place, r.x, r.s, r.c, r.w)
				for range times {
					text.WriteString(strconv.Itoa(id))
					text.WriteString(line)
				}
			}
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "t.csv"), []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

// declared is what the spec of a setting says of the rows.
type declared struct {
	low, high, step float64               // of x
	strata          map[string][2]float64 // of x, in place of low and high
	most            int                   // rows of a unit that stay
	weighted        bool
}

// bounded are the rows of a group that are counted, clamped and rounded to steps, halves up.
func (d declared) bounded(group string, rows []knownRow) []knownRow {
	low, high := d.low, d.high
	if s, ok := d.strata[group]; ok {
		low, high = s[0], s[1]
	}
	var out []knownRow
	for _, r := range rows {
		r.x = min(max(math.Floor(r.x/d.step+0.5)*d.step, low), high)
		if d.weighted {
			r.w = min(max(math.Floor(r.w/weightStep+0.5)*weightStep, weightLow), weightHigh)
		} else {
			r.w = 1
		}
		for range d.times(r) {
			out = append(out, r)
		}
	}
	return out
}

// all are the rows as they are.
func (d declared) all(rows []knownRow) []knownRow {
	var out []knownRow
	for _, r := range rows {
		times := 1
		if d.most > 0 {
			times = r.times
		}
		if !d.weighted {
			r.w = 1
		}
		out = append(out, slices.Repeat([]knownRow{r}, times)...)
	}
	return out
}

func (d declared) times(r knownRow) int {
	if d.most == 0 {
		return 1
	}
	return min(r.times, d.most)
}

// knownFigure is the true value of a figure: anything from low to high, which differ for quantiles only; NaN if it is
// not defined.
type knownFigure struct{ low, high float64 }

// sumOver adds up a value of rows, with their weights.
func sumOver(rows []knownRow, of func(knownRow) float64) (sum float64) {
	for _, r := range rows {
		sum += r.w * of(r)
	}
	return sum
}

func count(rows []knownRow) float64  { return sumOver(rows, func(knownRow) float64 { return 1 }) }
func sumOfX(rows []knownRow) float64 { return sumOver(rows, func(r knownRow) float64 { return r.x }) }

// rowsIn returns the rows of some categories.
func rowsIn(rows []knownRow, categories string) []knownRow {
	return slices.DeleteFunc(slices.Clone(rows), func(r knownRow) bool { return !strings.Contains(categories, r.c) })
}

func variance(rows []knownRow) float64 {
	mean := sumOfX(rows) / count(rows)
	return sumOver(rows, func(r knownRow) float64 { return (r.x - mean) * (r.x - mean) }) / count(rows)
}

// quantileOfX are all values that have at most the share of the rows below them and at most the rest above.
func quantileOfX(rows []knownRow, share float64) knownFigure {
	rows = slices.SortedFunc(slices.Values(rows), func(a, b knownRow) int { return cmp.Compare(a.x, b.x) })
	all, upTo := count(rows), 0.0
	out := knownFigure{math.NaN(), math.NaN()}
	for _, r := range rows {
		if upTo += r.w; math.IsNaN(out.low) && upTo >= share*all-1e-9 {
			out.low = r.x
		}
		if math.IsNaN(out.high) && upTo > share*all+1e-9 {
			out.high = r.x
		}
	}
	return out
}

// figuresKnown are the statistics by the names that the specs of all settings give them.
var figuresKnown = map[string]func(rows []knownRow, units int) knownFigure{
	"x_sum":       single(sumOfX),
	"x_mean":      single(func(rows []knownRow) float64 { return sumOfX(rows) / count(rows) }),
	"x_variance":  single(variance),
	"x_deviation": single(func(rows []knownRow) float64 { return math.Sqrt(variance(rows)) }),
	"x_cv": single(func(rows []knownRow) float64 {
		return math.Sqrt(variance(rows)) / math.Abs(sumOfX(rows)/count(rows))
	}),
	"share": single(func(rows []knownRow) float64 { return count(rowsIn(rows, "b")) / count(rowsIn(rows, "ab")) }),
	"per_s": single(func(rows []knownRow) float64 {
		return sumOfX(rows) / sumOver(rows, func(r knownRow) float64 { return r.s })
	}),
	"gap": single(func(rows []knownRow) float64 {
		first, second := rowsIn(rows, "a"), rowsIn(rows, "b")
		return sumOfX(first) / count(first) / (sumOfX(second) / count(second))
	}),
	"x_q10":    quantileAt(0.1),
	"x_q20":    quantileAt(0.2),
	"x_q30":    quantileAt(0.3),
	"x_q40":    quantileAt(0.4),
	"x_q50":    quantileAt(0.5),
	"x_q60":    quantileAt(0.6),
	"x_q70":    quantileAt(0.7),
	"x_q80":    quantileAt(0.8),
	"x_q90":    quantileAt(0.9),
	"x_q75":    func(rows []knownRow, _ int) knownFigure { return quantileOfX(rows, 0.75) },
	"x_median": func(rows []knownRow, _ int) knownFigure { return quantileOfX(rows, 0.5) },
	"units":    func(_ []knownRow, units int) knownFigure { return knownFigure{float64(units), float64(units)} },
	"s_distinct": single(func(rows []knownRow) float64 {
		seen := map[float64]bool{}
		for _, r := range rows {
			seen[r.s] = true
		}
		return float64(len(seen))
	}),
}

func quantileAt(share float64) func([]knownRow, int) knownFigure {
	return func(rows []knownRow, _ int) knownFigure { return quantileOfX(rows, share) }
}

func single(f func(rows []knownRow) float64) func([]knownRow, int) knownFigure {
	return func(rows []knownRow, _ int) knownFigure { return knownFigure{f(rows), f(rows)} }
}
