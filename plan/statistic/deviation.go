package statistic

import (
	"math"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/language"
)

// This file holds the standard deviation of a column: the root of its variance.

type deviation struct{ variance }

func (deviation) Plural(l *language.Language) string { return l.Text("standard deviations") }
func (deviation) Describe(l *language.Language, f plan.Figure, _ []string, rows spec.TableWords) string {
	return l.Text("standard deviation of %s", rows.Title(f.Column))
}
func (deviation) UnitOf(_ *language.Language, f plan.Figure, _ string, rows spec.TableWords) string {
	return rows.Unit(f.Column)
}

func (deviation) Truth(f plan.Figure, x Exact) (func(cell int) Truth, error) {
	return ofMoments(f, x, func(m Moments) float64 { return math.Sqrt(m.variance()) })
}
