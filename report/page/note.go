package page

// This file repeats notes next to the figures that they are about.

import (
	"slices"

	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/internal/words"
	"github.com/dprelease/dprelease/report/notes"
)

// ByWeight returns the statement that must accompany errors of weighted counts, "" if there are none.
func (r View) ByWeight() string {
	return words.When(report.Weighted(r.Tables), r.In().Text(notes.ByWeight))
}

// TypicalErrors says what the errors in the list of figures other than counts are.
func (r View) TypicalErrors() string {
	l := r.In()
	ranked := slices.ContainsFunc(r.Tables, func(t report.Table) bool {
		return slices.ContainsFunc(t.Figures, func(f report.Figure) bool { return f.Share != "" })
	})
	return l.Text("The standard error and the half width of the interval are medians over the cells that have them.") +
		words.When(ranked, " "+l.Text(
			"For a quantile, the column “standard error” gives the planned error of its rank.")) +
		" " + l.Text("The errors cover privacy noise only. They do not include sampling error, response "+
		"error or the effect of bringing values into their range.")
}

// FigureNotes returns the notes on figures and weights that are repeated next to the figures.
func (r View) FigureNotes() []report.Note {
	return r.NotesHeaded(report.NoteOnWeights, report.NoteOnWithheld)
}

// OfUnbiased says that errors and verdicts are of unbiased counts, if some counts were adjusted to add up; ""
// otherwise.
func (r View) OfUnbiased() string {
	m := report.AdjustmentOf(r.Tables)
	if m.Cells == 0 {
		return ""
	}
	l := r.In()
	return l.Text("Where counts were made to add up, margins, chances, intervals and verdicts refer to "+
		"%[1]s_unbiased, the counts before that. The published %[1]s was moved from there, and can be outside its "+
		"interval: the note “%[2]s” says how far it was moved, table by table.",
		m.Name, l.Text(report.NoteOnAddingUp))
}

// Agreement returns the notes on which tables agree, none if every table was measured separately.
func (r View) Agreement() []report.Note {
	return r.NotesHeaded(report.NoteAllAgree, report.NoteSomeAgree, report.NoteOthersDoNot)
}

// Sparse returns the notes on sparse tables, on tables of selected cells and on tables of groups that are not listed.
func (r View) Sparse() []report.Note {
	return r.NotesHeaded(report.NoteOnSparse, report.NoteOnTop, report.NoteOnDiscovered)
}
