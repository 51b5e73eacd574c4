package describe

import (
	"fmt"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/selection"
	"github.com/dprelease/dprelease/spec/language"
)

// This file describes sparse tables.

// sparseExpectation says what a sparse table will hold, and how accurate its figures will be.
func sparseExpectation(l *language.Language, _ *plan.Plan, t plan.Table) string {
	s := t.Sparse
	return Sparse(l, s, compiled.Possible(t)) + " " + MissedText(l, s) + " " +
		l.Text("Within ±%s of the exact count 19 times in 20, over all cells, published or not. Figures just above "+
			"%s are too large on average, because they are shown only where noise has raised them enough.",
			budget.Group(WholeMargin(t.Statistics[0].Margin)), budget.Group(s.Above))
}

// Sparse says which cells are published, and how many of them have no row.
func Sparse(l *language.Language, s *selection.AboveFacts, possible int64) string {
	return l.Text("Of %s, each with noise, those above %s are published. Among them, the expected number of cells "+
		"without a row is %s.",
		l.Plural(possible, "cell"), budget.Group(s.Above), meanCellsText(l, s.FalseCells))
}

// MissedText says with what probability cells of some sizes are missed.
func MissedText(l *language.Language, s *selection.AboveFacts) string {
	var all []string
	for i, m := range s.Missed {
		chance := l.Percent(m.Chance)
		if m.Chance < 1e-9 {
			chance = l.Text("next to nothing")
		}
		if i == 0 {
			all = append(all, l.Text("A cell of %s is missed with a chance of %s", l.Plural(m.Rows, "row"), chance))
		} else {
			all = append(all, l.Text("one of %s of %s", budget.Group(m.Rows), chance))
		}
	}
	return strings.Join(all, ", ") + "."
}

// whichAbove says which cells are published.
func whichAbove(t plan.Table) string { return "above " + budget.Group(t.Sparse.Above) }

// saySparse adds the facts of a sparse table.
func saySparse(b *factBook, t tableRow) {
	s := t.Sparse
	b.say(OnTable, t.Path, "published above", budget.Group(s.Above))
	b.add(planFact{topic: OnTable, subject: t.Path, what: "cells without a row that are expected to be published",
		value: meanCellsText(language.English, s.FalseCells), exact: fmt.Sprint(s.FalseCells)})
	for _, m := range s.Missed {
		b.say(OnTable, t.Path, "chance to miss "+budget.Plural(m.Rows, "row"), budget.Percent(m.Chance))
	}
}

// meanCellsText returns a mean number of cells in words.
func meanCellsText(l *language.Language, cells float64) string {
	switch {
	case cells < 1e-9:
		return l.Text("practically none")
	case cells < 0.01:
		return l.Text("at most %s", l.Number(budget.DecimalNearest(cells, 1)))
	}
	return l.Text("at most %s", l.Number(SizeText(cells)))
}
