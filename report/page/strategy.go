package page

// This file selects the strategies that are worth showing.

import (
	"slices"

	"github.com/dprelease/dprelease/report"
)

// HowMeasured returns the strategies that are worth showing: those of several tables, or with alternatives that were
// considered.
func (r View) HowMeasured() []report.Strategy {
	return slices.DeleteFunc(slices.Clone(r.Strategies), func(s report.Strategy) bool {
		return s.OfPart() || r.isAside(s) || len(s.Tables) == 1 && len(s.Alternatives) == 0
	})
}

// isAside reports whether a strategy is of tables that judge bounds and rules.
func (r View) isAside(s report.Strategy) bool {
	return slices.ContainsFunc(r.Tables, func(t report.Table) bool { return t.Aside && t.Path == s.Tables[0] })
}
