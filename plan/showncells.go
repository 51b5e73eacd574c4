package plan

import (
	"github.com/dprelease/dprelease/plan/phrase"
	"github.com/dprelease/dprelease/plan/selection"
)

// This file holds which of its cells a published table has, by the selection of its measurement.

// selects lists what the facts of a table say of its selection.
var selects = [selection.Kinds]struct {
	// stated reports whether the table has the facts of the kind.
	stated func(t Table) bool
	// gives reports whether a selection of the kind gives out the cells of a table of the kind.
	gives func(t Table, s selection.Selection) bool
	// asAsked reports whether one table of the kind has the cells of another, as far as these are known before there
	// is a budget.
	asAsked func(t, asked Table) bool
	// some reports whether the table has some of its cells, by what is counted in them.
	some bool
	// left says why the counts of such a table are not made to add up; "" where they are.
	left phrase.Code
}{
	selection.KindAll:    {statesNothing, givesAll, allAsAsked, false, ""},
	selection.KindAbove:  {statesAbove, givesAbove, aboveAsAsked, true, phrase.SomeCells},
	selection.KindTop:    {statesTop, givesTop, topAsAsked, true, phrase.SomeCells},
	selection.KindGroups: {statesGroups, givesGroups, groupsAsAsked, true, phrase.GroupsUnlisted},
	selection.KindTexts:  {statesTexts, givesTexts, textsAsAsked, true, phrase.GroupsUnlisted},
}

func statesNothing(Table) bool                 { return false }
func givesAll(Table, selection.Selection) bool { return true }
func allAsAsked(Table, Table) bool             { return true }

// Selects returns the selection of the table's cells: all of them, unless its facts say otherwise.
func (t Table) Selects() selection.Kind {
	for kind := range selects {
		if selects[kind].stated(t) {
			return selection.Kind(kind)
		}
	}
	return selection.KindAll
}

// SomeCells reports whether the table has only some of its cells, by what is counted in them.
func (t Table) SomeCells() bool { return selects[t.Selects()].some }

// GivesOut reports whether a selection gives out the cells that the table has.
func (t Table) GivesOut(s selection.Selection) bool {
	return s.Kind() == t.Selects() && selects[s.Kind()].gives(t, s)
}

// SelectsAs reports whether the table has the cells that the spec asks for, as far as that is known before there is a
// budget.
func (t Table) SelectsAs(asked Table) bool {
	return t.Selects() == asked.Selects() && selects[t.Selects()].asAsked(t, asked)
}
