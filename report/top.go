package report

// This file holds tables of selected cells.

// hasChoices reports whether a table shows only selected cells.
func hasChoices(t Table) bool { return t.Top != nil }
