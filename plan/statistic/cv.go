package statistic

import (
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/spec"
)

// This file holds the coefficient of variation of a column: its standard deviation over its mean.

type cv struct{ variance }

func (cv) Plural() string { return "coefficients of variation" }
func (cv) Describe(f plan.Figure, _ []string, rows spec.TableWords) string {
	return "coefficient of variation of " + rows.Title(f.Column)
}
func (cv) UnitOf(plan.Figure, string, spec.TableWords) string { return "multiples of the mean" }
