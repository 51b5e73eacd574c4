package describe

import (
	"cmp"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/statistic"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/language"
)

// This file names what figures count, in the words of every page and file: rows, weighted rows, or units.

// Counted names what the counts of a table are numbers of. protects is the noun for what the release protects.
func Counted(l *language.Language, t plan.Table, protects string) string {
	if t.CountsUnits() {
		return statistic.UnitsText(l, protects)
	}
	return cmp.Or(t.Counts.In(l), countedRowsName(l, t))
}

// FigureText returns what a figure of a table is: the title of its statistic, or how it is computed.
func FigureText(l *language.Language, w *spec.Words, f plan.Figure, t plan.Table) string {
	return cmp.Or(w.OfMarginal(t.Marginal).OfFigure(f.Name),
		statistic.OfFigure(f).Describe(l, f, t.By, w.OfTable(t.From)))
}

// TableTitle returns what people call a table: the title of its marginal, with the attributes if the marginal makes
// several tables, or the titles of its attributes; "" if nothing of it has a title.
func TableTitle(r *spec.Release, t plan.Table) string {
	rows := r.Words.OfTable(t.From)
	titles := rows.TitlesOf(t.By)
	title := r.Words.OfMarginal(t.Marginal).Title
	if title == "" && slices.Equal(titles, t.By) {
		return ""
	}
	several := slices.ContainsFunc(r.Marginals, func(m spec.Marginal) bool {
		return m.Name == t.Marginal && (m.Every != nil || m.Each != nil)
	})
	by := strings.Join(titles, " × ")
	switch {
	case title == "":
		return by
	case several && by != "":
		return title + ": " + by
	}
	return title
}

// UnitOf names the unit of a table's figure: its column, units, values, or one of these per another.
func UnitOf(l *language.Language, w *spec.Words, f plan.Figure, t plan.Table, protects string) string {
	in := statistic.OfFigure(f).UnitOf(l, f, protects, w.OfTable(t.From))
	if !statistic.OfFigure(f).IsWhole() {
		in += byWeight(l, t)
	}
	return in
}

// CountedText says what the counts of all tables are numbers of, listing the tables if they differ.
func CountedText(p *plan.Plan) string {
	if p.Release().Collection != nil {
		return "Counts are of respondents, whether or not their device drew the question."
	}
	var kinds []string
	tables := map[string][]string{} // by what they count
	for _, t := range p.Tables {
		kind := Counted(language.English, t, p.Guarantee.Protects) + " of " + t.From
		if tables[kind] == nil {
			kinds = append(kinds, kind)
		}
		tables[kind] = append(tables[kind], t.Path)
	}
	if len(kinds) == 1 {
		return "Counts are of " + kinds[0] + "."
	}
	for i, kind := range kinds {
		kinds[i] = kind + " in " + fewTables(language.English, tables[kind])
	}
	return "Counts are of " + strings.Join(kinds, "; of ") + "."
}
