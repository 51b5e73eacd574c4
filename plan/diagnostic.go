package plan

import "strings"

// This file holds the tables that are for judging bounds and rules.

// countsRows reports whether the table counts rows, or their weights, and not what bounds and policies leave out.
func (t Table) countsRows() bool { return t.Counts == "" }

// whyNotData says why the counts of a table are not counts of the data: "" unless the table is for judging bounds or
// rules.
func (t Table) whyNotData() string {
	if t.Counts != "" || strings.HasPrefix(t.Path, "bounds/") {
		return "it is for judging bounds or rules"
	}
	return ""
}
