package describe

import (
	"math"
	"math/big"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/usefulness"
	"github.com/dprelease/dprelease/spec/language"
)

// This file describes what a table is useful for.

// FactorText returns a factor in two digits, rounded up.
func FactorText(factor float64) string {
	if r := new(big.Rat).SetFloat64(factor); r != nil {
		return budget.DecimalUp(r, 2)
	}
	return "∞"
}

// Usefulness returns the band in words or, if no size is expected, the number of rows from which the table is worth
// reading.
func Usefulness(l *language.Language, u usefulness.Usefulness, s plan.Statistic, from string) string {
	cell, rows := l.Number(SizeText(u.AverageCell)), l.Plural(u.Rows, "row")
	verdict := " " + l.Text("Verdict on cells of that size: %s.", l.Text(string(u.Verdict)))
	switch u.Band {
	case usefulness.Good:
		return l.Text("Good: the margin is %s of an average cell (%s if %s has %s).",
			l.Percent(s.Margin/u.AverageCell), cell,
			from, rows) + verdict
	case usefulness.Usable:
		return l.Text("Usable: the standard error is %s of an average cell (%s if %s has %s).",
			l.Percent(s.StandardError/u.AverageCell), cell, from, rows) + verdict
	case usefulness.Weak:
		return l.Text("Weak: the standard error is %s of an average cell (%s if %s has %s).",
			l.Percent(s.StandardError/u.AverageCell), cell, from, rows) + verdict
	case usefulness.MostlyNoise:
		return l.Text("Mostly noise: half its cells will be off by %s or more, which is more than an average cell "+
			"(%s if %s has %s).",
			l.Number(SizeText(s.Median)), cell, from, rows) + verdict
	}
	if u.EnoughRows < 2 {
		return ""
	}
	return l.Text("With fewer than %s rows in %s an average cell is smaller than its own noise.",
		budget.Group(u.EnoughRows), from)
}

// adviceText returns the first two changes that would help; "" if none is needed.
func adviceText(l *language.Language, u *usefulness.Usefulness) string {
	if u == nil || len(u.Help) == 0 {
		return ""
	}
	if isHopeless(u.Help) {
		return l.Text("Nothing but the budget would help (%s): leave the table out.", u.Help[0].Change.In(l))
	}
	var changes []string
	for _, h := range u.Help[:min(2, len(u.Help))] {
		changes = append(changes, h.Change.In(l))
	}
	return l.Text("What would help: %s.", strings.Join(changes, ", "+l.Text("or")+" "))
}

// mostBudget is the largest multiple of the budget that somebody may still consider spending.
const mostBudget = 10

// isHopeless reports whether nothing helps but a budget that nobody will spend.
func isHopeless(all []usefulness.Help) bool {
	return len(all) == 1 && all[0].Budget && all[0].Factor > mostBudget
}

// bandsText says how many of several tables are in each band, or from how many rows they are worth reading.
func bandsText(l *language.Language, tables []Expected) string {
	count := map[string]int64{} // by label
	least, most := int64(math.MaxInt64), int64(0)
	for _, t := range tables {
		if t.Usefulness == nil {
			return ""
		}
		count[Label(l, t.Usefulness)]++
		least, most = min(least, t.Usefulness.EnoughRows), max(most, t.Usefulness.EnoughRows)
	}
	if count[""] == int64(len(tables)) {
		return " " + l.Text("With fewer than %s (the best) to %s (the worst) rows in %s an average cell is smaller "+
			"than its own noise.", budget.Group(least), budget.Group(most), tables[0].From)
	}
	var parts []string
	for _, b := range []usefulness.Band{usefulness.Good, usefulness.Usable, usefulness.Weak, usefulness.MostlyNoise} {
		for _, v := range []usefulness.Verdict{usefulness.UseCells, usefulness.AddUpFirst, usefulness.LargeCellsOnly,
			usefulness.DoNotUse} {
			label := Label(l, (&usefulness.Usefulness{Band: b, Verdict: v}))
			if count[label] > 0 {
				parts = append(parts, budget.Group(count[label])+" "+label)
			}
		}
	}
	return " " + l.Text("Against their average cells: %s.", strings.Join(parts, ", "))
}

// SizeText returns a number of rows as people read it.
func SizeText(rows float64) string {
	if rows >= 100 {
		return budget.Group(int64(math.Round(rows)))
	}
	return budget.DecimalNearest(rows, 2)
}

// SpreadText says what a plan cannot know of a verdict.
const SpreadText = "The verdict is the one that the report gives if the rows are spread evenly over the cells. The " +
	"plan does not know how the rows are spread. If more than a tenth of a table's cells turn out so small that they " +
	"could be zero, the report says “add up first” instead of “use” (“large cells only” if its cells cannot be added " +
	"up). “Do not use cell by cell” is final."

// Label returns a band with its verdict; "" if the spec does not state the number of rows.
func Label(l *language.Language, u *usefulness.Usefulness) string {
	if u == nil || u.Band == "" {
		return ""
	}
	return l.Text(string(u.Band)) + ": " + l.Text(string(u.Verdict))
}

// The bands and the verdicts, as package usefulness has them.
var _ = []string{
	language.Key("good"), language.Key("usable"), language.Key("weak"), language.Key("mostly noise"),
	language.Key("use"), language.Key("add up first"), language.Key("large cells only"),
	language.Key("do not use cell by cell"),
}
