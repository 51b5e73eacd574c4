package statistic

import (
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/language"
)

// This file holds the number of values of a column that occur.

type distinct struct{ ownCount }

func (distinct) Plural(l *language.Language) string { return l.Text("counts of values") }

func (distinct) Parts(_ Table, s spec.Stat) ([]Part, error) {
	return []Part{{Name: s.Name, Counted: counted.Distinct{Column: s.Column, PerUnit: s.PerUnit}}}, nil
}

func (distinct) Figures(t Table, s spec.Stat) []plan.Figure {
	f := figure(s)
	f.Part = ID(t.Path, s.Name, nil)
	return []plan.Figure{f}
}

func (distinct) Limits(f plan.Figure, rows *spec.Table) (least, most float64) {
	return 0, float64(rows.Column(f.Column).Domain.Size())
}

func (distinct) Describe(l *language.Language, f plan.Figure, _ []string, rows spec.TableWords) string {
	return l.Text("values of %s that occur", rows.Title(f.Column))
}
func (distinct) UnitOf(l *language.Language, _ plan.Figure, _ string, _ spec.TableWords) string {
	return l.Text("values")
}
