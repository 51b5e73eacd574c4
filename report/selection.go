package report

import "github.com/dprelease/dprelease/plan/selection"

// This file holds which of its cells a table shows: all of them, those above a threshold, those that were chosen, or
// groups that nobody listed.

// facts lists by which facts of a table each kind of selection is known, and whether it leaves cells out.
var facts = [selection.Kinds]struct {
	has  func(t Table) bool
	some bool
}{
	selection.KindAll:    {func(Table) bool { return true }, false},
	selection.KindAbove:  {hasThreshold, true},
	selection.KindTop:    {hasChoices, true},
	selection.KindGroups: {hasGroups, true},
}

// Selects returns which of its cells the table shows: all of them where nothing else is said.
func (t Table) Selects() selection.Kind {
	kind := selection.Kind(selection.Kinds) - 1
	for !facts[kind].has(t) {
		kind--
	}
	return kind
}

// SomeCells reports whether the table shows some of its cells, by what is counted in them.
func (t Table) SomeCells() bool { return facts[t.Selects()].some }
