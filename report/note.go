package report

// This file holds the headings of the notes on how to read the figures.

import (
	"slices"

	"github.com/dprelease/dprelease/spec/language"
)

// NoteOnDiscovered heads the notes on groups that are not listed.
var NoteOnDiscovered = language.Key("Groups that nobody listed")

// Headings of the notes that other pages repeat.
var (
	NoteOnWeights  = language.Key("Margins of weighted counts are not sampling errors")
	NoteOnWithheld = language.Key("Withheld by the noisy count alone")
)

// NotesHeaded returns the notes with one of the headings, in English or in the language of the report.
func (r *Report) NotesHeaded(headings ...string) []Note {
	return slices.DeleteFunc(slices.Clone(r.Reading), func(n Note) bool {
		return !slices.ContainsFunc(headings, func(heading string) bool {
			return n.Heading == heading || n.Heading == r.In().Text(heading)
		})
	})
}

// NoteOnAddingUp heads the note on counts that add up.
var NoteOnAddingUp = language.Key("Counts that add up")

// NoteOnImpossible heads the note on impossible cells.
var NoteOnImpossible = language.Key("Cells that cannot be")

// Impossible returns the note on impossible cells, none if the spec declares none.
func (r *Report) Impossible() []Note { return r.NotesHeaded(NoteOnImpossible) }

// NoteOnPublicFigures heads the note on invariants.
var NoteOnPublicFigures = language.Key("Figures that were public before")

// PublicFigures returns the note on invariants, none if there are none.
func (r *Report) PublicFigures() []Note { return r.NotesHeaded(NoteOnPublicFigures) }

// Headings of the notes on tables that were reconstructed together.
var (
	NoteAllAgree    = language.Key("Tables agree with each other")
	NoteSomeAgree   = language.Key("Some tables agree with each other")
	NoteOthersDoNot = language.Key("Others do not")
)

// Note is a paragraph with its heading.
type Note struct {
	Heading string `json:"heading"`
	Text    string `json:"text"`
}

// NoteOnSparse heads the notes on sparse tables.
var NoteOnSparse = language.Key("Cells above a threshold")

// NoteOnTop heads the notes on tables of selected cells.
var NoteOnTop = language.Key("Cells that were chosen")
