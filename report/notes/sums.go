package notes

// This file describes sums along a column: cumulative tables, and tables whose neighbouring cells should be added up.

import (
	"github.com/dprelease/dprelease/report"
)

// cumulativeNotes say how to read cumulative tables.
func cumulativeNotes(r *report.Report) []report.Note {
	l := r.In()
	for _, t := range r.Tables {
		if t.Cumulative == nil {
			continue
		}
		s := t.Statistics[0].Name
		return []report.Note{{Heading: l.Text("Cumulative counts are already added up"),
			Text: l.Text("A row's %[1]s is how many have its category or one before it, so the row of the last category has the count of all, and adding rows counts the same units again. By noise alone %[1]s can fall from one row to the next. How many lie between two rows is the difference of their %[1]s_unbiased; the noise of both is correlated, and `dprelease query` gives the difference with its own error. Margins and flags are read as those of counts.",
				s)}}
	}
	return nil
}
