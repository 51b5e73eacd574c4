package report

import "github.com/dprelease/dprelease/plan/selection"

// This file holds which of its cells a table shows: all of them, those above a threshold, privately selected ones, or
// groups that are not listed.

// kindFacts lists for each kind of selection the fact by which a table has it, and whether it leaves cells out.
var kindFacts = [selection.Kinds]struct {
	has  func(t Table) bool
	some bool
}{
	selection.KindAll:    {func(Table) bool { return true }, false},
	selection.KindAbove:  {hasThreshold, true},
	selection.KindTop:    {hasChoices, true},
	selection.KindGroups: {hasGroups, true},
	selection.KindTexts:  {hasTexts, true},
}

// Selects returns which of its cells the table shows: all of them if nothing else is stated.
func (t Table) Selects() selection.Kind {
	kind := selection.Kind(selection.Kinds) - 1
	for !kindFacts[kind].has(t) {
		kind--
	}
	return kind
}

// SomeCells reports whether the data decide which of its cells the table shows.
func (t Table) SomeCells() bool { return kindFacts[t.Selects()].some }
