package statistic

import (
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/spec"
)

// This file holds the count: it is the table's own number, and no additional figure.

type count struct{ plain }

func (count) Plural() string                                         { return "counts" }
func (count) Figures(Table, spec.Stat) []plan.Figure                 { return nil }
func (count) Additive() bool                                         { return true }
func (count) Describe(plan.Figure, []string, spec.TableWords) string { return "rows" }
func (count) UnitOf(plan.Figure, string, spec.TableWords) string     { return "rows" }

// RowsOf returns what is counted of the rows of a table: each as 1 or, where they have weights, these.
func RowsOf(t *spec.Table) counted.Counted {
	if t.Weight == nil {
		return counted.Rows{}
	}
	return counted.Values{Weight: true}
}
