package notes

import (
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/selection"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/internal/words"
	"github.com/dprelease/dprelease/spec/language"
)

// This file describes tables by which of their cells they show.

// wordsByKind holds the notes on a table of each kind, and how not to read such tables, "" for nothing.
var wordsByKind = [selection.Kinds]struct {
	notes   func(l *language.Language, t report.Table, planned plan.Table, s string) []report.Note
	misread string // translated where it is said
}{
	selection.KindAll:   {notes: noNote},
	selection.KindAbove: {notes: sparseNote},
	selection.KindTop: {topNote,
		language.Key("Do not take the cells of a table of chosen cells for exactly those with the largest counts.")},
	selection.KindGroups: {notes: groupsNote},
	selection.KindTexts:  {notes: foundNote},
}

func noNote(*language.Language, report.Table, plan.Table, string) []report.Note { return nil }

// selectionNotes say which cells are in the tables that show some of them, kind by kind.
func selectionNotes(r *report.Report, p *plan.Plan, s string) []report.Note {
	var notes []report.Note
	for kind, of := range wordsByKind {
		for i, t := range r.Tables {
			if t.Selects() == selection.Kind(kind) {
				notes = append(notes, of.notes(r.In(), t, p.Tables[i], s)...)
			}
		}
	}
	return notes
}

// misreadings says how not to read tables that show some of their cells.
func misreadings(l *language.Language, tables []report.Table) []string {
	var shown [selection.Kinds]string
	for _, t := range tables {
		if says := wordsByKind[t.Selects()].misread; says != "" {
			shown[t.Selects()] = l.Text(says)
		}
	}
	return words.NonEmpty(shown[:]...)
}
