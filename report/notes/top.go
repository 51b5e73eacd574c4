package notes

import (
	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/describe"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/spec/language"
)

// This file describes tables of selected cells.

// topNote says which cells are in a table, and how its figures can be used.
func topNote(l *language.Language, t report.Table, planned plan.Table, _ string) []report.Note {
	return []report.Note{{Heading: report.NoteOnTop,
		Text: l.Text("Table %s: %s Each choice is random, and the likelier the larger the count: the true top %s may differ. Rows stand in the order of their choice, which by itself tells the order of the counts no better than their intervals do. The counts were drawn after the choice, with noise of their own: they are right on the mean and their intervals hold, whichever cells were chosen. A cell that is not in the table may well have rows. Do not add the rows up to a total: what was not chosen is missing.",
			t.Path, describe.Top(l, planned.Top, t.Top.Declared), budget.Group(t.Top.Of))}}
}
