package report

// This file holds tables of texts that were found from reports.

// hasTexts reports whether a table shows the texts that were found from reports.
func hasTexts(t Table) bool { return t.Texts != nil }
