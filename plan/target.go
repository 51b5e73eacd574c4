package plan

import (
	"fmt"

	"github.com/dprelease/dprelease/budget"
)

// This file holds the targets: the requested accuracy of tables, the noise that this allows, and the least budget
// that buys it.

// Target is the requested accuracy of a table, and what it reaches: its margin at a confidence of each cell, or of
// all cells at once.
type Target struct {
	Margin     string `json:"margin"`
	Confidence string `json:"confidence"`
	AllCells   bool   `json:"all_cells,omitempty"`
	// Relative is the requested margin if that is a percentage of a cell of some size, such as "5% of 1000".
	Relative string `json:"relative,omitempty"`
	// Reached is the margin of the widest cell at that confidence; for all cells at once, at the confidence that each
	// of them needs for all to have it together (Bonferroni 1936).
	Reached float64 `json:"reached"`
}

// String describes the target, such as "±500, 95% sure of each cell".
func (t Target) String() string {
	of := "each cell"
	if t.AllCells {
		of = "all cells at once"
	}
	sure := t.Confidence
	if share, err := budget.ParseRat(t.Confidence); err == nil {
		v, _ := share.Float64()
		sure = budget.Percent(v)
	}
	margin := "±" + t.Margin
	if t.Relative != "" {
		margin += " (" + t.Relative + ")"
	}
	return fmt.Sprintf("%s, %s sure of %s", margin, sure, of)
}
