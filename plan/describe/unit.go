package describe

import (
	"fmt"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
)

// This file describes the privacy unit: which rows of which tables are protected together, and how many of them are
// counted.

// Contribution says how many rows of a unit are counted at most: "3 are", or "3 in persons and 1 in visits are".
func Contribution(g plan.Guarantee) string { return countedRows(g.MaxRows, g.Rows) + " are" }

// countedRows returns a number of rows of a unit or, for several tables, one for each.
func countedRows(all int64, rows []plan.UnitRows) string {
	if rows == nil {
		return budget.Group(all)
	}
	each := make([]string, len(rows))
	for i, t := range rows {
		each[i] = fmt.Sprintf("%s in %s", budget.Group(t.MaxRows), t.Table)
	}
	return budget.InWords(each)
}
