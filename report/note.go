package report

// This file holds the headings of the notes on how to read the figures.

import (
	"slices"
)

// NoteOnDiscovered heads the notes on groups that are not listed.
const NoteOnDiscovered = "Groups that nobody listed"

// Headings of the notes that other pages repeat.
const (
	NoteOnWeights  = "Margins of weighted counts are not sampling errors"
	NoteOnWithheld = "Withheld by the noisy count alone"
)

// NotesHeaded returns the notes with one of the headings.
func (r *Report) NotesHeaded(headings ...string) []Note {
	return slices.DeleteFunc(slices.Clone(r.Reading), func(n Note) bool { return !slices.Contains(headings, n.Heading) })
}

// NoteOnAddingUp heads the note on counts that add up.
const NoteOnAddingUp = "Counts that add up"

// NoteOnImpossible heads the note on impossible cells.
const NoteOnImpossible = "Cells that cannot be"

// Impossible returns the note on impossible cells, none if the spec declares none.
func (r *Report) Impossible() []Note { return r.NotesHeaded(NoteOnImpossible) }

// NoteOnPublicFigures heads the note on invariants.
const NoteOnPublicFigures = "Figures that were public before"

// PublicFigures returns the note on invariants, none if there are none.
func (r *Report) PublicFigures() []Note { return r.NotesHeaded(NoteOnPublicFigures) }

// Headings of the notes on tables that were reconstructed together.
const (
	NoteAllAgree    = "Tables agree with each other"
	NoteSomeAgree   = "Some tables agree with each other"
	NoteOthersDoNot = "Others do not"
)

// Note is a paragraph with its heading.
type Note struct {
	Heading string `json:"heading"`
	Text    string `json:"text"`
}

// NoteOnSparse heads the notes on sparse tables.
const NoteOnSparse = "Cells above a threshold"

// NoteOnTop heads the notes on tables of selected cells.
const NoteOnTop = "Cells that were chosen"
