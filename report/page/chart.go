package page

// This file shows where the budget went: a row with a bar for each part of the budget, and within it one for each group
// of tables.

import (
	"cmp"
	"slices"

	"github.com/dprelease/dprelease/report"
)

const (
	mostWithin = 8  // groups within a part
	mostSplit  = 12 // parts whose groups are shown
)

// budgetChart is the chart with its bars from the top.
type budgetChart struct {
	Of    string // says what a bar stands for; "" if no part is divided
	Split bool   // whether the spec splits the budget
	Bars  []budgetBar
}

// budgetBar is a part of the budget or, with Within, what a group of tables took of one.
type budgetBar struct {
	Label  string
	Part   float64 // of the whole budget
	Within bool
	Leaf   *report.Leaf // as the spec fixed it; nil for a bar within a part
}

// BudgetChart groups the budget as finely as is readable.
func (r View) BudgetChart() *budgetChart {
	if r.Collection != nil {
		return nil // a respondent answers one question, or all with equal parts
	}
	leaves := leafBars(r.Report)
	c := &budgetChart{Split: len(leaves) > 1}
	for _, leaf := range leaves {
		var within []budgetBar
		of := ""
		if len(leaves) <= mostSplit {
			of, within = barsWithin(r.Report, leaf.Label)
		}
		if leaf.Label == "" && len(within) == 1 {
			leaf.Label = within[0].Label
		}
		leaf.Label = cmp.Or(leaf.Label, r.In().Text("whole budget"))
		c.Bars = append(c.Bars, leaf)
		if len(within) < 2 {
			continue
		}
		c.Of = of
		for _, b := range within {
			b.Within = true
			c.Bars = append(c.Bars, b)
		}
	}
	return c
}

// leafBars returns the parts of the budget that the spec names, in its order.
func leafBars(r *report.Report) []budgetBar {
	var bars []budgetBar
	for _, l := range r.Budget.Leaves {
		b := budgetBar{Label: l.Path, Leaf: &l}
		for _, s := range r.Strategies {
			if s.Leaf == l.Path {
				b.Part += s.PartOfBudget
			}
		}
		for _, m := range r.Microdata {
			if m.Table == l.Microdata {
				b.Part += m.PartOfBudget
			}
		}
		for _, m := range r.Models {
			if m.Leaf == l.Path {
				b.Part += m.PartOfBudget
			}
		}
		bars = append(bars, b)
	}
	return bars
}

// barsWithin says what a group is, and returns what each group of tables took of one part of the budget. The cost of a
// table is known if it is a single measurement.
func barsWithin(r *report.Report, leaf string) (string, []budgetBar) {
	l := r.In()
	if r.Together() {
		in := func(s report.Strategy) bool { return s.Leaf == leaf }
		return l.Text("By part, and within it by group of tables."), largestBars(barsOf(r.Strategies, in,
			func(s report.Strategy) string { return report.PartText(l.FirstOf(s.Tables)) },
			func(s report.Strategy) float64 { return s.PartOfBudget }), mostWithin, l.Text("others"))
	}
	in := func(t report.Table) bool { return t.Leaf == leaf }
	tables := barsOf(r.Tables, in, func(t report.Table) string { return t.Path }, tablePart)
	if len(tables) <= mostWithin {
		return l.Text("By part, and within it by table."), tables
	}
	return l.Text("By part, and within it by marginal."), largestBars(barsOf(r.Tables, in,
		func(t report.Table) string { return t.Marginal }, tablePart), mostWithin, l.Text("others"))
}

// largestBars keeps the largest bars, and merges the rest into one.
func largestBars(bars []budgetBar, most int, others string) []budgetBar {
	if len(bars) <= most {
		return bars
	}
	slices.SortStableFunc(bars, func(a, b budgetBar) int { return cmp.Compare(b.Part, a.Part) })
	rest := budgetBar{Label: others}
	for _, b := range bars[most-1:] {
		rest.Part += b.Part
	}
	return append(bars[:most-1], rest)
}

// tablePart returns the share of the budget that a table and its figures cost, if its count is a single measurement.
func tablePart(t report.Table) float64 {
	var part float64
	for _, s := range t.Statistics {
		part += s.PartOfBudget
	}
	for _, p := range t.Parts {
		part += p.PartOfBudget
	}
	return part
}

// barsOf sums the parts of all elements selected by in with the same key, in order of appearance.
func barsOf[T any](all []T, in func(T) bool, key func(T) string, part func(T) float64) []budgetBar {
	var bars []budgetBar
	index := map[string]int{}
	for _, one := range all {
		if !in(one) {
			continue
		}
		k := key(one)
		i, ok := index[k]
		if !ok {
			i, index[k] = len(bars), len(bars)
			bars = append(bars, budgetBar{Label: k})
		}
		bars[i].Part += part(one)
	}
	return bars
}

// Width returns the bar's share of the available width, at least a visible sliver.
func (b budgetBar) Width() string { return percent(min(1, max(0.003, b.Part))) }
