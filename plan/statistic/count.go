package statistic

import (
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/language"
)

// This file holds the count: it is the table's own number, and no additional figure.

type count struct{ plain }

func (count) Plural(l *language.Language) string     { return l.Text("counts") }
func (count) Figures(Table, spec.Stat) []plan.Figure { return nil }
func (count) Additive() bool                         { return true }
func (count) Describe(l *language.Language, _ plan.Figure, _ []string, _ spec.TableWords) string {
	return l.Text("rows")
}
func (count) UnitOf(l *language.Language, _ plan.Figure, _ string, _ spec.TableWords) string {
	return l.Text("rows")
}

func (count) Truth(_ plan.Figure, x Exact) (func(cell int) Truth, error) {
	return func(cell int) Truth { return exactly(x.Unit() * x.Rows(cell)) }, nil
}

// RowsOf returns what is counted of the rows of a table: each as 1 or, where they have weights, these.
func RowsOf(t *spec.Table) counted.Counted {
	if t.Weight == nil {
		return counted.Rows{}
	}
	return counted.Values{Weight: true}
}

// CountedOf returns what a marginal counts of its table: the rows or, of a table of reports, these, with the numbers
// that they are asked for, by a randomiser that the planner chooses.
func CountedOf(t *spec.Table, m *spec.Marginal) counted.Counted {
	if t.Collected == "" {
		return RowsOf(t)
	}
	return counted.Reports{Of: m.Asked()}
}
