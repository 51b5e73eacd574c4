package plan

import "github.com/dprelease/dprelease/plan/selection"

// This file holds the tables with cells that are chosen for their large counts.

func statesTop(t Table) bool { return t.Top != nil }

func givesTop(t Table, s selection.Selection) bool {
	choices := s.(selection.Top)
	return choices.Of == t.Top.Of && choices.Of < t.Cells && choices.Sensitivity > 0
}

func topAsAsked(t, asked Table) bool { return t.Top.Of == asked.Top.Of }
