package page

import (
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/internal/words"
)

// This file describes tables that judge bounds or rules.

// asideText says what a table that judges bounds or rules is for.
func asideText(t report.Table) string {
	if t.Counts != "" {
		return "counts " + t.Counts
	}
	var names []string
	for _, f := range t.Figures {
		names = append(names, f.What)
	}
	return "to judge a range by: " + words.List(names)
}
