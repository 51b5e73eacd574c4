package query

import "github.com/dprelease/dprelease/plan/selection"

// This file holds what can be asked of tables by which of their cells they have.

// selecting lists why nothing is added up from a table, and what to do instead, "" where it is; and whether its cells
// are told one by one.
var selecting = [selection.Kinds]struct {
	notAdded string
	singly   bool
}{
	selection.KindAll:    {},
	selection.KindAbove:  {singly: true},
	selection.KindTop:    {notAdded: "has those cells alone that were chosen, which no sum can rest on: `show FOLDER TABLE` prints them, and with --cell one"},
	selection.KindGroups: {notAdded: "has those groups alone that a selection has let through, which no sum can rest on: `show FOLDER TABLE` prints them, and with --cell one"},
}
