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
			Text: l.Text("In each row, %[1]s counts all that have the category of the row or an earlier one. So the "+
				"row of the last category has the count of all, and adding rows counts the same units again. Noise "+
				"alone can make %[1]s fall from one row to the next. The number between two rows is the difference "+
				"of their %[1]s_unbiased. The noise of both is correlated; `dprelease query` gives the difference "+
				"with its own error. Read margins and flags as for other counts.",
				s)}}
	}
	return nil
}
