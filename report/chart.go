package report

// This file holds the chart of where the budget went.

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
)

// mostBars is how many bars a chart can have and still be read.
const mostBars = 24

// chart is a bar chart: one bar for each table, marginal or leaf or, where tables are
// made from the same measurements, for each group that is measured together.
type chart struct {
	Of   string // what a bar stands for, such as "table", "marginal" or "part of the budget"; with microdata, "table or microdata" and so on
	Bars []bar
}

// bar is one bar with its place on the page, in pixels from the top.
type bar struct {
	Label string
	Part  float64 // of the whole budget
}

const (
	barPitch  = 42
	barHeight = 8
)

// chartOf groups the budget as finely as can be read.
func chartOf(r *Report) chart {
	c := chart{}
	for _, g := range groupings(r) {
		c = g
		for _, m := range r.Microdata {
			c.Bars = append(c.Bars, bar{Label: "microdata of " + m.Table, Part: m.PartOfBudget})
		}
		if len(r.Microdata) > 0 {
			c.Of += " or microdata"
		}
		if len(c.Bars) <= mostBars {
			return c
		}
	}
	slices.SortStableFunc(c.Bars, func(a, b bar) int { return cmp.Compare(b.Part, a.Part) })
	rest := bar{Label: "all others"}
	for _, b := range c.Bars[mostBars-1:] {
		rest.Part += b.Part
	}
	c.Bars = append(c.Bars[:mostBars-1], rest)
	return c
}

// groupings are the charts of the budget for tables, finest first. What a table cost
// is known where it is one measurement.
func groupings(r *Report) []chart {
	if together(r.Tables) {
		return []chart{
			{"group of tables", barsOf(r.Strategies, Strategy.label, spentPart)},
			{"part of the budget", barsOf(r.Strategies, func(s Strategy) string { return s.Leaf }, spentPart)},
		}
	}
	return []chart{
		{"table", barsOf(r.Tables, func(t Table) string { return t.Path }, Table.part)},
		{"marginal", barsOf(r.Tables, func(t Table) string { return t.Marginal }, Table.part)},
		{"part of the budget", barsOf(r.Tables, func(t Table) string { return t.Leaf }, Table.part)},
	}
}

func spentPart(s Strategy) float64 { return s.PartOfBudget }

// label names the first table of a group and how many more there are.
func (s Strategy) label() string {
	if more := len(s.Tables) - 1; more > 0 {
		return fmt.Sprintf("%s and %d more", partText(s.Tables[0]), more)
	}
	return partText(s.Tables[0])
}

// part is what the table and its figures cost of the budget, where its count is one measurement.
func (t Table) part() float64 {
	var part float64
	for _, s := range t.Statistics {
		part += s.PartOfBudget
	}
	for _, p := range t.Parts {
		part += p.PartOfBudget
	}
	return part
}

// barsOf adds up the parts of all that have the same key, in order of appearance.
func barsOf[T any](all []T, key func(T) string, part func(T) float64) []bar {
	var bars []bar
	index := map[string]int{}
	for _, one := range all {
		k := key(one)
		i, ok := index[k]
		if !ok {
			i, index[k] = len(bars), len(bars)
			bars = append(bars, bar{Label: k})
		}
		bars[i].Part += part(one)
	}
	return bars
}

// Height of the drawing in pixels.
func (c chart) Height() int { return barPitch * len(c.Bars) }

// Baseline of the text of bar i.
func (c chart) Baseline(i int) int { return barPitch*i + 14 }

// Top of bar i.
func (c chart) Top(i int) int { return barPitch*i + 20 }

// Thickness of every bar.
func (c chart) Thickness() int { return barHeight }

// Width of the bar as a part of the page's width, at least a visible sliver.
func (b bar) Width() string {
	return strconv.FormatFloat(min(100, max(0.3, float64(100*b.Part))), 'f', 2, 64) + "%"
}
