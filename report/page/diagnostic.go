package page

import (
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/internal/words"
)

// This file holds what pages say of tables that judge bounds or rules.

// asideText says what a table is there for that judges bounds or rules.
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
