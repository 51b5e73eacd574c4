package page

// This file holds the notes that stand beside their subject as well.

import (
	"fmt"

	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/notes"
)

// ByWeight is what must be said beside errors of counts by weight, "" where there are none.
func (r View) ByWeight() string {
	if report.Weighted(r.Tables) {
		return notes.ByWeight
	}
	return ""
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
	var notes []report.Note
	for _, n := range r.Reading {
		if n.Heading == report.NoteAllAgree || n.Heading == report.NoteSomeAgree || n.Heading == report.NoteOthersDoNot {
			notes = append(notes, n)
		}
	}
	return notes
}

// Sparse is the notes on sparse tables, on tables of chosen cells and on those of groups that nobody listed.
func (r View) Sparse() []report.Note {
	var notes []report.Note
	for _, n := range r.Reading {
		if n.Heading == report.NoteOnSparse || n.Heading == report.NoteOnTop || n.Heading == report.NoteOnDiscovered {
			notes = append(notes, n)
		}
	}
	return notes
}
