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
		Text: l.Text("Table %s: %s Each choice is random; the larger the count of a cell, the likelier it is chosen. "+
			"So the true top %s may be other cells. Rows are in the order in which they were chosen. This order says "+
			"no more about the order of the counts than their intervals do. The counts were drawn after the choice, "+
			"with noise of their own: they are right on average and their intervals hold, whichever cells were "+
			"chosen. A cell that is not in the table may well have rows. Do not add the rows up to a total: cells "+
			"that were not chosen are missing.",
			t.Path, describe.Top(l, planned.Top, t.Top.Declared), budget.Group(t.Top.Of))}}
}
