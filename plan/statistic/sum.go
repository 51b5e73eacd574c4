package statistic

import (
	"math"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/language"
)

// This file holds the sum of a column.

type sum struct{ summed }

func (sum) Plural(l *language.Language) string { return l.Text("sums") }

func (sum) Parts(t Table, s spec.Stat) ([]Part, error) {
	if t.rows().Collected != "" {
		return nil, nil
	}
	return []Part{sumsOf(t, s.Column, 1, nil)}, nil
}

func (sum) Figures(t Table, s spec.Stat) []plan.Figure {
	f := figure(s)
	if t.rows().Collected != "" { // the table's own question asks for the numbers
		f.Part = t.Path
		return []plan.Figure{f}
	}
	f.Sums = ID(t.Path, sumsName(s.Column, 1), nil)
	return []plan.Figure{f}
}

func (sum) Additive() bool { return true }

func (sum) Limits(f plan.Figure, rows *spec.Table) (least, most float64) {
	most = unlimited
	l := rows.Column(f.Column).Lattice // weights are not negative
	if l.First < 0 {
		least = math.Inf(-1)
	}
	if l.Last <= 0 {
		most = 0
	}
	return least, most
}

func (sum) Signed() bool { return true }

func (sum) ErrorSources(f plan.Figure, from Measured) ErrorSources {
	unit, middle, _ := scaleOf(from, f.Sums)
	return ErrorSources{Counts: squareOf(middle), Parts: []Share{{f.Sums, squareOf(unit)}}}
}

func (sum) RowsNeeded(f plan.Figure, rows *spec.Table) float64 {
	low, high := rangeOf(f, rows)
	if middle := math.Abs(low+high) / 2; middle > 0 {
		return f.Quality.Margin / middle
	}
	return 0
}

func (sum) Truth(f plan.Figure, x Exact) (func(cell int) Truth, error) {
	return ofMoments(f, x, func(m Moments) float64 {
		return x.Unit() * (float64(m.Factor*m.Sum) + float64(m.Centre*m.Rows))
	})
}
