package page

import (
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/spec/language"
)

// This file describes tables that judge bounds or rules.

// asideText says what a table that judges bounds or rules is for.
func asideText(l *language.Language, t report.Table) string {
	if t.Counts != "" {
		return l.Text("counts %s", t.Counts)
	}
	var names []string
	for _, f := range t.Figures {
		names = append(names, f.What)
	}
	return l.Text("to judge a range by: %s", l.List(names))
}
