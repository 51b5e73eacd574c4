package statistic

import "github.com/dprelease/dprelease/plan"

// This file holds the standard deviation of a column: the root of its variance.

type deviation struct{ variance }

func (deviation) Plural() string { return "standard deviations" }
func (deviation) Describe(f plan.Figure, _ []string) string {
	return "standard deviation of " + f.Column
}
func (deviation) UnitOf(f plan.Figure, _ string) string { return f.Column }
