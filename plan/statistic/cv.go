package statistic

import (
	"math"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/language"
)

// This file holds the coefficient of variation of a column: its standard deviation over its mean.

type cv struct{ variance }

func (cv) Plural(l *language.Language) string { return l.Text("coefficients of variation") }
func (cv) Describe(l *language.Language, f plan.Figure, _ []string, rows spec.TableWords) string {
	return l.Text("coefficient of variation of %s", rows.Title(f.Column))
}
func (cv) UnitOf(l *language.Language, _ plan.Figure, _ string, _ spec.TableWords) string {
	return l.Text("multiples of the mean")
}

func (cv) Truth(f plan.Figure, x Exact) (func(cell int) Truth, error) {
	return ofMoments(f, x, func(m Moments) float64 { return quotient(math.Sqrt(m.variance()), math.Abs(m.mean())) })
}
