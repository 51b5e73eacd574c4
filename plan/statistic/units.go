package statistic

import (
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/language"
)

// This file holds the number of units that have a row in a cell.

type units struct{ ownCount }

func (units) Plural(l *language.Language) string { return l.Text("counts of units") }

func (units) Parts(t Table, _ spec.Stat) ([]Part, error) {
	if t.Units {
		return nil, nil
	}
	return []Part{{Name: spec.Units.String(), Counted: counted.Rows{}, CountsUnitsOnce: true}}, nil
}

// Figures returns the one figure of a table, its number of units, computed from the part with the same ID; none if the
// table itself counts units.
func (units) Figures(t Table, s spec.Stat) []plan.Figure {
	if t.Units {
		return nil
	}
	f := figure(s)
	f.Part = ID(t.Path, spec.Units.String(), nil)
	return []plan.Figure{f}
}

func (units) RowsNeeded(f plan.Figure, _ *spec.Table) float64 { return f.Quality.Margin }
func (units) Describe(l *language.Language, _ plan.Figure, _ []string, _ spec.TableWords) string {
	return l.Text("units that have a row in the cell")
}
func (units) UnitOf(l *language.Language, _ plan.Figure, protects string, _ spec.TableWords) string {
	return UnitsText(l, protects)
}

// UnitsText names units in a count where a unit with several rows counts once.
func UnitsText(l *language.Language, protects string) string {
	return l.Text("units, each %s once in a cell", protects)
}

// ownCount is what statistics have in common that count something with a separate measurement.
type ownCount struct{ plain }

func (ownCount) Additive() bool { return true }
func (ownCount) IsWhole() bool  { return true }

func (ownCount) ErrorSources(f plan.Figure, _ Measured) ErrorSources {
	return ErrorSources{Parts: []Share{{f.Part, 1}}}
}

func (ownCount) Truth(f plan.Figure, x Exact) (func(cell int) Truth, error) {
	return func(cell int) Truth { return exactly(x.Part(f.Part, cell)) }, nil
}
