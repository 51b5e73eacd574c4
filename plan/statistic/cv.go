package statistic

import "github.com/dprelease/dprelease/plan"

// This file holds the coefficient of variation of a column: its standard deviation over its mean.

type cv struct{ variance }

func (cv) Plural() string { return "coefficients of variation" }
func (cv) Describe(f plan.Figure, _ []string) string {
	return "coefficient of variation of " + f.Column
}
func (cv) UnitOf(plan.Figure, string) string { return "multiples of the mean" }
