package page

// This file holds the notes that stand beside their subject as well.

import (
	"fmt"

	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/internal/words"
	"github.com/dprelease/dprelease/report/notes"
)

// ByWeight is what must be said beside errors of counts by weight, "" where there are none.
func (r View) ByWeight() string {
	return words.When(report.Weighted(r.Tables), notes.ByWeight)
}

// FigureNotes are the notes on figures and weights that stand beside the figures themselves.
func (r View) FigureNotes() []report.Note {
	return r.NotesHeaded(report.NoteOnWeights, report.NoteOnWithheld)
}

// OfUnbiased says of which counts errors and verdicts are, where some were made to add up; "" elsewhere.
func (r View) OfUnbiased() string {
	m := report.AdjustmentOf(r.Tables)
	if m.Cells == 0 {
		return ""
	}
	return fmt.Sprintf("Where counts were made to add up, margins, chances, intervals and verdicts are of %[1]s_unbiased, what they were before. The published %[1]s was moved from there, and can lie outside of its interval: the note “%[2]s” says how far it was moved, table by table.", m.Name, report.NoteOnAddingUp)
}

// Agreement is the notes on which tables agree, none where every table was measured
// separately.
func (r View) Agreement() []report.Note {
	return r.NotesHeaded(report.NoteAllAgree, report.NoteSomeAgree, report.NoteOthersDoNot)
}

// Sparse is the notes on sparse tables, on tables of chosen cells and on those of groups that nobody listed.
func (r View) Sparse() []report.Note {
	return r.NotesHeaded(report.NoteOnSparse, report.NoteOnTop, report.NoteOnDiscovered)
}
