package plan

import (
	"fmt"
	"slices"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/spec"
)

// This file holds the unit: which rows of which tables are protected together, and how many of them are counted.

// UnitRows is one of several tables that a unit has rows in.
type UnitRows struct {
	Table   string `json:"table"`
	ID      string `json:"id"`       // the column that tells units apart
	MaxRows int64  `json:"max_rows"` // of one unit, that are counted
}

// unitOf says what a release protects: of several confidential tables, a unit's rows in all of them.
//
// Guarantee: two inputs that differ in one unit differ in rows of one id alone, at most MaxRows of which are counted, in all
// tables together. Neighbours: both relations. Argument: docs/proofs/sensitivity.md.
func (g *Guarantee) unitOf(r *spec.Release) {
	g.Unit, g.MaxRows = "each row", 0
	var names []string
	for _, t := range r.Tables {
		g.MaxRows += t.Unit.MaxRows
		if t.Unit.Null == spec.Drop {
			g.WithoutID = LeftOut
		}
		names = append(names, t.Name)
	}
	first := r.Tables[0].Unit
	switch {
	case len(r.Tables) == 1 && first.Row:
		return
	case len(r.Tables) == 1:
		g.Unit = "all rows with the same " + first.ID
		return
	}
	for _, t := range r.Tables {
		g.Rows = append(g.Rows, UnitRows{t.Name, t.Unit.ID, t.Unit.MaxRows})
	}
	if !slices.ContainsFunc(r.Tables, func(t *spec.Table) bool { return t.Unit.ID != first.ID }) {
		g.Unit = "all rows with the same " + first.ID + " in " + inWords(names)
		return
	}
	for i, t := range r.Tables {
		names[i] = t.Unit.ID + " in " + t.Name
	}
	g.Unit = "all rows with the same id (" + inWords(names) + ")"
}

// Counted is how many rows of a unit are counted at most: "3 are", or "3 in persons and 1 in visits are".
func (g Guarantee) Counted() string { return countedRows(g.MaxRows, g.Rows) + " are" }

// countedRows is a number of rows of a unit or, of several tables, one for each.
func countedRows(all int64, rows []UnitRows) string {
	if rows == nil {
		return budget.Group(all)
	}
	each := make([]string, len(rows))
	for i, t := range rows {
		each[i] = fmt.Sprintf("%s in %s", budget.Group(t.MaxRows), t.Table)
	}
	return inWords(each)
}
