package query

import "fmt"

// This file holds the notes on answers that are public figures.

// publicNotes returns the notes of an answer from a table of public figures, "" for another table.
func (a *Answer) publicNotes(cells string) string {
	if a.Invariant == "" {
		return ""
	}
	return fmt.Sprintf("\nFrom table %s, %s a figure: figures that were public before, of invariant %s, or sums of "+
		"these. They have no noise, and nothing says that they are counts of the data.\n", a.Table, cells, a.Invariant)
}
