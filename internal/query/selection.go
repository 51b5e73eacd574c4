package query

import "github.com/dprelease/dprelease/plan/selection"

// This file holds what can be asked of a table, by how its cells are selected.

// selecting gives, by how cells are selected, why no sum can be read from the table, and what to do instead, "" if sums
// can be read; and whether only single cells can be asked for.
var selecting = [selection.Kinds]struct {
	notAdded string
	singly   bool
}{
	selection.KindAll:   {},
	selection.KindAbove: {singly: true},
	selection.KindTop: {notAdded: "has those cells alone that were chosen, which no sum can rest on: `show FOLDER " +
		"TABLE` prints them, and with --cell one"},
	selection.KindGroups: {notAdded: "has those groups alone that a selection has let through, which no sum can rest " +
		"on: `show FOLDER TABLE` prints them, and with --cell one"},
	selection.KindTexts: {notAdded: "has those texts alone that were found, which no sum can rest on: `show FOLDER " +
		"TABLE` prints them"},
}
