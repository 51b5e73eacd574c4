package statistic

import (
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/spec"
)

// This file holds the standard deviation of a column: the root of its variance.

type deviation struct{ variance }

func (deviation) Plural() string { return "standard deviations" }
func (deviation) Describe(f plan.Figure, _ []string, rows spec.TableWords) string {
	return "standard deviation of " + rows.Title(f.Column)
}
func (deviation) UnitOf(f plan.Figure, _ string, rows spec.TableWords) string {
	return rows.Unit(f.Column)
}
