package report

// This file holds tables of groups that nobody listed.

// hasGroups reports whether a table shows the groups that a selection let through.
func hasGroups(t Table) bool { return t.Discovered != nil }
