package page

import (
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/spec/language"
)

// This file describes tables that judge bounds or rules.

// diagnosticPurposeText returns what a table is for by which bounds or rules are judged.
func diagnosticPurposeText(l *language.Language, t report.Table) string {
	if t.Counts != "" {
		return l.Text("counts %s", t.Counts)
	}
	var names []string
	for _, f := range t.Figures {
		names = append(names, f.What)
	}
	return l.Text("to judge a range by: %s", l.List(names))
}
