package describe

import (
	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/spec/language"
)

// This file describes the privacy unit: which rows of which tables are protected together, and how many of them are
// counted.

// countedRows returns a number of rows of a unit or, for several tables, one for each, such as "3 in persons and 1 in
// visits".
func countedRows(l *language.Language, all int64, rows []plan.UnitRows) string {
	if rows == nil {
		return budget.Group(all)
	}
	each := make([]string, len(rows))
	for i, t := range rows {
		each[i] = l.Text("%s in %s", budget.Group(t.MaxRows), t.Table)
	}
	return l.List(each)
}
