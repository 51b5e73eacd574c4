package statistic

import (
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/language"
)

// This file holds the mean of a column.

type mean struct{ summed }

func (mean) Plural(l *language.Language) string { return l.Text("means") }

func (mean) Parts(t Table, s spec.Stat) ([]Part, error) { return sum{}.Parts(t, s) }

func (mean) Figures(t Table, s spec.Stat) []plan.Figure { return sum{}.Figures(t, s) }

func (mean) Signed() bool { return true }

func (mean) ErrorSources(f plan.Figure, from Measured) ErrorSources {
	unit, _, half := scaleOf(from, f.Sums)
	return ErrorSources{PerRows: true, Counts: squareOf(half), Parts: []Share{{f.Sums, squareOf(unit)}}}
}

func (mean) RowsNeeded(f plan.Figure, rows *spec.Table) float64 {
	low, high := rangeOf(f, rows)
	return 2 * f.Quality.Margin * float64(f.Quality.Rows) / (leftOpen * (high - low))
}

func (mean) HasMap() bool { return true }

func (mean) Truth(f plan.Figure, x Exact) (func(cell int) Truth, error) {
	return ofMoments(f, x, Moments.mean)
}
