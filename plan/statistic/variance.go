package statistic

import (
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/language"
)

// This file holds the variance of a column.

type variance struct{ summed }

func (variance) Plural(l *language.Language) string { return l.Text("variances") }

func (variance) Parts(t Table, s spec.Stat) ([]Part, error) {
	return []Part{sumsOf(t, s.Column, 1, nil), sumsOf(t, s.Column, 2, nil)}, nil
}

func (variance) Figures(t Table, s spec.Stat) []plan.Figure {
	f := figure(s)
	f.Sums, f.Squares = ID(t.Path, sumsName(s.Column, 1), nil), ID(t.Path, sumsName(s.Column, 2), nil)
	return []plan.Figure{f}
}

func (variance) ErrorSources(plan.Figure, Measured) ErrorSources { return ErrorSources{PerRows: true} }

func (variance) UnitOf(l *language.Language, f plan.Figure, _ string, rows spec.TableWords) string {
	return l.Text("%s squared", rows.Unit(f.Column))
}

func (variance) Truth(f plan.Figure, x Exact) (func(cell int) Truth, error) {
	return ofMoments(f, x, Moments.variance)
}
