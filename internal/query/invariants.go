package query

import "fmt"

// This file holds what is said of answers that are public figures.

// publicNotes are the notes of an answer from a table of public figures, "" from another.
func (a *Answer) publicNotes(cells string) string {
	if a.Invariant == "" {
		return ""
	}
	return fmt.Sprintf("\nFrom table %s, %s a figure: figures that were public before, of invariant %s, or sums of these. They have no noise, and nothing says that they are those of the data.\n", a.Table, cells, a.Invariant)
}
