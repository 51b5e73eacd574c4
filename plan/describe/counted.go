package describe

import (
	"fmt"
	"strings"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/spec"
)

// This file holds what figures are numbers of, in the words of every page and file: rows, weighted rows, or units.

// Counted names what the counts of a table are numbers of. protects is the noun that the release protects.
func Counted(t plan.Table, protects string) string {
	switch {
	case t.Counts != "":
		return t.Counts
	case t.Statistics[0].Name == spec.Units.String():
		return unitsText(protects)
	case t.Weighted:
		return "weighted rows"
	}
	return "rows"
}

// unitsText names units where one with several rows counts once.
func unitsText(protects string) string { return fmt.Sprintf("units, each %s once in a cell", protects) }

// In names what a figure of a table is in: its column, units, values, or one of these per another.
func In(f plan.Figure, t plan.Table, protects string) string {
	byWeight := ""
	if t.Weighted {
		byWeight = ", by weight"
	}
	switch f.Kind {
	case spec.Units:
		return unitsText(protects)
	case spec.Distinct:
		return "values"
	case spec.Variance:
		return f.Column + " squared" + byWeight
	case spec.Ratio:
		return ratioIn(*f.Of, *f.Over) + byWeight
	}
	return f.Column + byWeight
}

// ratioIn names what a ratio of two terms is in.
func ratioIn(of, over plan.Term) string {
	in := func(t plan.Term) string {
		if t.Kind == spec.Count {
			return "rows"
		}
		return t.Column
	}
	if in(of) == in(over) {
		return "a number without a unit"
	}
	return in(of) + " per " + strings.TrimSuffix(in(over), "s")
}

// CountedText says what the counts of all tables are numbers of, table by table where they differ.
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
