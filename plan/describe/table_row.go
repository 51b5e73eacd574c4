package describe

import (
	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/selection"
)

// This file holds the signed page's row on one table.

const (
	// ManyTables is the number of tables up to which the page lists every table.
	ManyTables = 40
	// firstTables is how many of several similar tables are listed even then.
	firstTables = 3
)

// tableRow is what the page says of one table.
type tableRow struct {
	plan.Table
	measured  string
	leaf      string
	mechanism *budget.Mechanism   // of its own measurement; nil for none
	selection selection.Selection // of its own measurement; [selection.All] without one
}

// isSimilar reports whether two rows can be merged: they have the same number of attributes, and are measured the
// same way for one leaf, with one kind of noise.
func (r tableRow) isSimilar(other tableRow) bool {
	if (r.mechanism == nil) != (other.mechanism == nil) || r.mechanism != nil &&
		r.mechanism.Kind != other.mechanism.Kind {
		return false
	}
	return len(r.By) == len(other.By) && r.measured == other.measured && r.leaf == other.leaf && len(r.steps()) == 0 &&
		len(other.steps()) == 0
}

// steps returns the mechanisms of the selection of the row's own measurement.
func (r tableRow) steps() []budget.Mechanism { return r.selection.Steps() }

func leafText(leaf string) string {
	if leaf == "" {
		return "–"
	}
	return leaf
}
