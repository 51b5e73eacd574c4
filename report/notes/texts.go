package notes

import (
	"slices"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/describe"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/spec/language"
)

// This file describes tables of texts that were found from reports.

// foundNote says which texts were found for a table.
func foundNote(l *language.Language, t report.Table, _ plan.Table, _ string) []report.Note {
	return []report.Note{{Heading: report.NoteOnDiscovered,
		Text: l.Text("Table %s: %s The texts are counted by other reports than those they were found by, so their "+
			"figures are nearly right on average. The figure of a text that was barely found can be too low, by a "+
			"tenth on average if few respond. About one of the texts may be there by chance, and whoever can send "+
			"many false reports can put one in. A text of exactly %s stands for longer ones that begin so, too. Do "+
			"not add the rows up to a total: texts that were not found are missing.",
			t.Path, describe.Found(l, t.Texts), l.Plural(t.Texts.MaxLength, "character"))}}
}

// noTextText is the headline if no number of any table is published although texts were searched; "" otherwise.
func noTextText(l *language.Language, a report.Accuracy, tables []report.Table) string {
	if a.Numbers > 0 || !slices.ContainsFunc(tables, func(t report.Table) bool { return t.Texts != nil }) {
		return ""
	}
	return l.Text("No number is published: no text was frequent enough to be found.")
}
