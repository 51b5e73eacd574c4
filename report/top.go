package report

// This file holds tables of chosen cells.

// hasChoices reports whether a table shows the cells that were chosen alone.
func hasChoices(t Table) bool { return t.Top != nil }
