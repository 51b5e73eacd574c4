package plan

import (
	"strings"

	"github.com/dprelease/dprelease/plan/phrase"
)

// This file holds the tables that are for judging bounds and rules.

// countsRows reports whether the table counts rows, or their weights, and not what bounds and policies leave out.
func (t Table) countsRows() bool { return t.Counts.IsZero() }

// whyNotData says why the counts of a table are not counts of the data: "" unless the table is for judging bounds or
// rules.
func (t Table) whyNotData() phrase.Code {
	if !t.Counts.IsZero() || strings.HasPrefix(t.Path, "bounds/") {
		return phrase.ForJudging
	}
	return ""
}
