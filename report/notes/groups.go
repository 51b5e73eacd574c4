package notes

import (
	"slices"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/describe"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/spec/language"
)

// This file describes tables of groups that are not listed: how likely a group appears, and what it means that it does
// not.

// groupsNote says which groups appear in a table, and what it means that one does not.
func groupsNote(l *language.Language, t report.Table, planned plan.Table, _ string) []report.Note {
	return []report.Note{{Heading: report.NoteOnDiscovered,
		Text: l.Text("Table %s: %s That a group appears says little about its size. Its figure has noise of its own, "+
			"which has nothing to do with the selection. So the figure is right on average, and its interval holds "+
			"for each group that appears. Do not add the rows up to a total: groups that did not appear are missing.",
			t.Path, describe.Discovered(l, planned.Discovered))}}
}

// noGroupText is the headline if no number of any table is published although groups or texts might have been; ""
// otherwise.
func noGroupText(l *language.Language, a report.Accuracy, tables []report.Table) string {
	if text := noTextText(l, a, tables); text != "" {
		return text
	}
	if a.Numbers > 0 || !slices.ContainsFunc(tables, func(t report.Table) bool { return t.Discovered != nil }) {
		return ""
	}
	return l.Text("No number is published: no group was selected, and a group that is not in a table need not be empty.")
}
