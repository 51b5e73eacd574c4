package page

// This file holds the strategies that have something to say.

import (
	"slices"

	"github.com/dprelease/dprelease/report"
)

// HowMeasured are the strategies that have something to say: of several tables, or
// with alternatives that were weighed.
func (r View) HowMeasured() []report.Strategy {
	return slices.DeleteFunc(slices.Clone(r.Strategies), func(s report.Strategy) bool {
		return s.OfPart() || r.aside(s) || len(s.Tables) == 1 && len(s.Instead) == 0
	})
}

// aside tells that a strategy is of tables that are there to judge bounds and rules by.
func (r View) aside(s report.Strategy) bool {
	return slices.ContainsFunc(r.Tables, func(t report.Table) bool { return t.Aside && t.Path == s.Tables[0] })
}
