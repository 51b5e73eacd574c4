package page

// This file holds the strategies that have something to say.

import (
	"slices"

	"github.com/dprelease/dprelease/report"
)

// HowMeasured are the strategies that have something to say: of several tables, or
// with alternatives that were weighed.
func (r View) HowMeasured() []report.Strategy {
	var all []report.Strategy
	for _, s := range r.Strategies {
		if !s.OfPart() && !r.aside(s) && (len(s.Tables) > 1 || len(s.Instead) > 0) {
			all = append(all, s)
		}
	}
	return all
}

// aside tells that a strategy is of tables that are there to judge bounds and rules by.
func (r View) aside(s report.Strategy) bool {
	return slices.ContainsFunc(r.Tables, func(t report.Table) bool { return t.Aside && t.Path == s.Tables[0] })
}
