package describe

import (
	"fmt"
	"math"
	"math/big"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/usefulness"
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
func Usefulness(u usefulness.Usefulness, s plan.Statistic, from string) string {
	cell := fmt.Sprintf("an average cell (%s if %s has %s)", SizeText(u.AverageCell), from, budget.Plural(u.Rows, "row"))
	verdict := fmt.Sprintf(" Verdict on cells of that size: %s.", u.Verdict)
	switch u.Band {
	case usefulness.Good:
		return fmt.Sprintf("Good: the margin is %s of %s.", budget.Percent(s.Margin/u.AverageCell), cell) + verdict
	case usefulness.Usable:
		return fmt.Sprintf("Usable: the standard error is %s of %s.", budget.Percent(s.StandardError/u.AverageCell), cell) +
			verdict
	case usefulness.Weak:
		return fmt.Sprintf("Weak: the standard error is %s of %s.", budget.Percent(s.StandardError/u.AverageCell), cell) +
			verdict
	case usefulness.MostlyNoise:
		return fmt.Sprintf("Mostly noise: half its cells will be off by more than their size, by %s or more beside %s.",
			SizeText(s.Median), cell) + verdict
	}
	if u.EnoughRows < 2 {
		return ""
	}
	return fmt.Sprintf("With fewer than %s rows in %s an average cell is smaller than its own noise.",
		budget.Group(u.EnoughRows), from)
}

// adviceText returns the first two changes that would help; "" if none is needed.
func adviceText(u *usefulness.Usefulness) string {
	if u == nil || len(u.Help) == 0 {
		return ""
	}
	if isHopeless(u.Help) {
		return "Nothing but the budget would help (" + u.Help[0].Change.String() + "): leave the table out."
	}
	var changes []string
	for _, h := range u.Help[:min(2, len(u.Help))] {
		changes = append(changes, h.Change.String())
	}
	return "What would help: " + strings.Join(changes, ", or ") + "."
}

// mostBudget is the largest multiple of the budget that somebody may still consider spending.
const mostBudget = 10

// isHopeless reports whether nothing helps but a budget that nobody will spend.
func isHopeless(all []usefulness.Help) bool {
	return len(all) == 1 && all[0].Budget && all[0].Factor > mostBudget
}

// bandsText says how many of several tables are in each band, or from how many rows they are worth reading.
func bandsText(tables []Expected) string {
	count := map[string]int64{} // by label
	least, most := int64(math.MaxInt64), int64(0)
	for _, t := range tables {
		if t.Usefulness == nil {
			return ""
		}
		count[Label(t.Usefulness)]++
		least, most = min(least, t.Usefulness.EnoughRows), max(most, t.Usefulness.EnoughRows)
	}
	if count[""] == int64(len(tables)) {
		return fmt.Sprintf(" With fewer than %s (the best) to %s (the worst) rows in %s an average cell is smaller than its own noise.", budget.Group(least), budget.Group(most), tables[0].From)
	}
	var parts []string
	for _, b := range []usefulness.Band{usefulness.Good, usefulness.Usable, usefulness.Weak, usefulness.MostlyNoise} {
		for _, v := range []usefulness.Verdict{usefulness.UseCells, usefulness.AddUpFirst, usefulness.LargeCellsOnly,
			usefulness.DoNotUse} {
			label := Label((&usefulness.Usefulness{Band: b, Verdict: v}))
			if count[label] > 0 {
				parts = append(parts, fmt.Sprintf("%s %s", budget.Group(count[label]), label))
			}
		}
	}
	return " Against their average cells: " + strings.Join(parts, ", ") + "."
}

// SizeText returns a number of rows as people read it.
func SizeText(rows float64) string {
	if rows >= 100 {
		return budget.Group(int64(math.Round(rows)))
	}
	return budget.DecimalNearest(rows, 2)
}

// SpreadText says what a plan cannot know of a verdict.
const SpreadText = "The verdict is the one that the report gives where rows are spread evenly over the cells. How they are spread no plan knows: of a table that is good or usable the report says “add up first” (“large cells only” where cells cannot be added up) where more than a tenth of the cells could be zero, and where the plan says “do not use cell by cell” so does the report."

// Label returns a band with its verdict; "" if the spec does not state the number of rows.
func Label(u *usefulness.Usefulness) string {
	if u == nil || u.Band == "" {
		return ""
	}
	return string(u.Band) + ": " + string(u.Verdict)
}
