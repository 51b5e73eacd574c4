package describe

import (
	"cmp"
	"strings"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/statistic"
)

// This file names what figures count, in the words of every page and file: rows, weighted rows, or units.

// Counted names what the counts of a table are numbers of. protects is the noun for what the release protects.
func Counted(t plan.Table, protects string) string {
	if t.CountsUnits() {
		return statistic.UnitsText(protects)
	}
	return cmp.Or(t.Counts.String(), rowsOf(t))
}

// UnitOf names the unit of a table's figure: its column, units, values, or one of these per another.
func UnitOf(f plan.Figure, t plan.Table, protects string) string {
	in := statistic.OfFigure(f).UnitOf(f, protects)
	if !statistic.OfFigure(f).IsWhole() {
		in += byWeight(t)
	}
	return in
}

// CountedText says what the counts of all tables are numbers of, listing the tables if they differ.
func CountedText(p *plan.Plan) string {
	var kinds []string
	tables := map[string][]string{} // by what they count
	for _, t := range p.Tables {
		kind := Counted(t, p.Guarantee.Protects) + " of " + t.From
		if tables[kind] == nil {
			kinds = append(kinds, kind)
		}
		tables[kind] = append(tables[kind], t.Path)
	}
	if len(kinds) == 1 {
		return "Counts are of " + kinds[0] + "."
	}
	for i, kind := range kinds {
		kinds[i] = kind + " in " + fewTables(tables[kind])
	}
	return "Counts are of " + strings.Join(kinds, "; of ") + "."
}
