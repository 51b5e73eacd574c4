package plan

import (
	"fmt"

	"github.com/dprelease/dprelease/budget"
)

// This file holds the targets: how good tables must be, the noise that this allows, and the least budget that buys it.

// Target is how good a table is asked to be, and whether it will be: its margin at a confidence of each cell, or of all
// cells at once.
type Target struct {
	Margin     string `json:"margin"`
	Confidence string `json:"confidence"`
	AllCells   bool   `json:"all_cells,omitempty"`
	// Relative is how the margin was asked for where that is a percentage of a cell of some size, such as "5% of 1000".
	Relative string `json:"relative,omitempty"`
	// Reached is the margin of the widest cell at that confidence; for all cells at once, at the confidence that each of
	// them needs for all to have it together (Bonferroni 1936).
	Reached float64 `json:"reached"`
}

// String is the target in words, such as "±500, 95% sure of each cell".
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
