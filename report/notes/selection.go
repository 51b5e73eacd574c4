package notes

// This file holds tables of groups that nobody listed: how likely one appears, and what it means that it does not.

import (
	"fmt"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/describe"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/internal/words"
)

// discoveredNotes say which groups appear in a table, and what it means that one does not.
func discoveredNotes(r *report.Report, p *plan.Plan) []report.Note {
	var notes []report.Note
	for i, t := range r.Tables {
		if t.Discovered == nil {
			continue
		}
		notes = append(notes, report.Note{Heading: report.NoteOnDiscovered,
			Text: fmt.Sprintf("Table %s: %s That a group appears tells little of its size, and its figure is drawn apart from that: it is right on the mean, and its interval holds for each group that appears. Do not add the rows up to a total: what has not appeared is missing.",
				t.Path, describe.Discovered(p.Tables[i].Discovered))})
	}
	return notes
}

// sparseNotes say what a row of a sparse table means, and what it means that a cell has none.
func sparseNotes(r *report.Report, p *plan.Plan, s string) []report.Note {
	var notes []report.Note
	for i, t := range r.Tables {
		if t.Sparse == nil {
			continue
		}
		planned := p.Tables[i]
		notes = append(notes, report.Note{Heading: report.NoteOnSparse,
			Text: fmt.Sprintf("Table %s: %s %s A cell that is not in the table is not an empty one: its noisy count was not above %s. A cell of more than %s would be in the table with a chance of at least %s. "+
				"The margins hold over all cells, in the table or not; among those in the table, figures little above %s are too large on the mean, %s_unbiased as well, and a cell without a row that is in it by its noise alone can have an interval that leaves out 0. Do not add the rows up: what is left out is missing.",
				t.Path, describe.Sparse(planned.Sparse, planned.Cells-planned.Impossible), describe.MissedText(planned.Sparse),
				budget.Group(t.Sparse.Above),
				budget.Plural(t.Sparse.Bound, "row"), words.Level(t.Statistics[0].Confidence), budget.Group(t.Sparse.Above), s)})
	}
	return notes
}

// topNotes say which cells are in a table, and what its figures are good for.
func topNotes(r *report.Report, p *plan.Plan) []report.Note {
	var notes []report.Note
	for i, t := range r.Tables {
		if t.Top == nil {
			continue
		}
		notes = append(notes, report.Note{Heading: report.NoteOnTop,
			Text: fmt.Sprintf("Table %s: %s Each choice is random, and the likelier the larger the count: the true top %s may differ. Rows stand in the order of their choice, which by itself tells the order of the counts no better than their intervals do. The counts were drawn after the choice, with noise of their own: they are right on the mean and their intervals hold, whichever cells were chosen. A cell that is not in the table may well have rows. Do not add the rows up to a total: what was not chosen is missing.",
				t.Path, describe.Top(p.Tables[i].Top, t.Top.Declared), budget.Group(t.Top.Of))})
	}
	return notes
}
