package describe

import (
	"fmt"
	"math"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/selection"
	"github.com/dprelease/dprelease/spec/language"
)

// This file describes tables of the largest cells.

// directionText says in which direction units change the integers of cells.
func directionText(c selection.Top) string {
	if c.Monotone {
		return ", all cells in one direction"
	}
	return ", in either direction"
}

// costOfChoices returns what all choices and the noise of the counts cost together, in four digits rounded up: an ε
// if both have one, else a ρ.
func costOfChoices(s selection.Selection, noise budget.Mechanism) string {
	steps := s.Steps()
	if noise.Kind.Pure() && steps[0].Kind == budget.PermuteAndFlip {
		return costOfAll(append(steps, noise))
	}
	sum := noise.Rho()
	for _, m := range steps {
		sum.Add(sum, m.Rho())
	}
	return rhoText(sum)
}

// whichChosen says how many cells are published.
func whichChosen(t plan.Table) string { return "the " + budget.Group(t.Top.Of) + " chosen" }

// sayTop adds the facts of a table of chosen cells.
func sayTop(b *factBook, t tableRow) {
	top := t.Top
	b.say(OnTable, t.Path, "cells chosen", budget.Group(top.Of))
	if choices, ok := t.selection.(selection.Top); ok {
		b.say(OnTable, t.Path, "each choice", choiceText(choices.Select))
		b.say(OnTable, t.Path, "sensitivity of the choice",
			fmt.Sprintf("%d%s", choices.Sensitivity, directionText(choices)))
	}
	b.add(planFact{topic: OnTable, subject: t.Path, what: "part that choosing takes",
		value: Percent(plan.Amount(top.Choosing)), exact: top.Choosing})
	b.add(planFact{topic: OnTable, subject: t.Path, what: "shortfall of the choice, at most",
		value: budget.Group(WholeMargin(top.Shortfall)), exact: fmt.Sprint(top.Shortfall)})
}

// Top says which cells a table has, and how large its shortfall may be.
func Top(l *language.Language, t *selection.TopFacts, cells int64) string {
	return l.Text("The %[2]s of %[1]s with the largest counts, as far as private selection finds them: with a "+
		"probability of %[3]s, no cell that is left out exceeds one that is here by more than %[4]s.",
		l.Plural(cells, "cell"), budget.Group(t.Of), l.Number(percentDown(t.Attained)),
		budget.Group(WholeMargin(t.Shortfall)))
}

// percentDown returns a probability in per cent, rounded down to one decimal.
func percentDown(x float64) string {
	return fmt.Sprintf("%g%%", math.Floor(x*1000)/10)
}

// topExpectation says what a top table will hold, and how accurate its figures will be.
func topExpectation(l *language.Language, _ *plan.Plan, t plan.Table) string {
	return Top(l, t.Top, t.Cells) + " " +
		l.Text("The counts of those that are here are drawn anew: each within ±%s of the exact one 19 times in 20, "+
			"whichever were chosen.",
			budget.Group(WholeMargin(t.Statistics[0].Margin)))
}
