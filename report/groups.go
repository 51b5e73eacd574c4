package report

// This file holds tables of groups that are not listed.

// hasGroups reports whether a table shows the groups that a private selection chose.
func hasGroups(t Table) bool { return t.Discovered != nil }
