package statistic

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/plan"

	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/language"
)

// This file holds the ratio of two terms: of counts, sums or means of rows that meet conditions.

type ratio struct{ plain }

func (ratio) Plural(l *language.Language) string { return l.Text("ratios") }

func (ratio) Parts(t Table, s spec.Stat) ([]Part, error) {
	by := whereColumns(s)
	if i := slices.IndexFunc(by, func(a spec.Attribute) bool {
		return slices.ContainsFunc(t.By, func(b spec.Attribute) bool { return a.Column == b.Column })
	}); i >= 0 {
		return nil, &Fault{fmt.Sprintf("%s tells rows apart by %s, and so does the table", s.Name, by[i].Column),
			"a column that the table is not by"}
	}
	if len(by) > 0 && t.PerUnit.Groups+t.PerUnit.RowsPerGroup > 0 {
		return nil, &Fault{fmt.Sprintf(
			"%s tells rows of a group apart, and per_unit bounds the rows of a unit by group: the two would have "+
				"other groups",
			s.Name), "per_unit: {total: N}, or a marginal without per_unit for it"}
	}
	var all []Part
	if len(by) > 0 {
		all = append(all, Part{Name: "count", MoreAttributes: by, Counted: RowsOf(t.rows())})
	}
	for _, term := range []spec.Term{s.Of, s.Over} {
		if term.Kind != spec.Count {
			all = append(all, termSums(t, term.Column, by))
		}
	}
	return all, nil
}

func (ratio) Figures(t Table, s spec.Stat) []plan.Figure {
	f, by := figure(s), whereColumns(s)
	of, over := termOf(t, s.Of, by), termOf(t, s.Over, by)
	f.Of, f.Over = &of, &over
	return []plan.Figure{f}
}

// termOf returns a term of a ratio whose parts have these attributes in addition to those of the table.
func termOf(t Table, term spec.Term, by []spec.Attribute) plan.Term {
	out := plan.Term{Kind: term.Kind, Column: term.Column}
	if len(by) > 0 {
		out.Counts = ID(t.Path, "count", by)
	}
	if term.Kind != spec.Count {
		out.Sums = ID(t.Path, termSums(t, term.Column, by).Name, by)
	}
	for _, a := range by {
		c := plan.Condition{Attribute: a.String()}
		if i := slices.IndexFunc(term.Where, func(w spec.Condition) bool { return w.Attribute == a }); i >= 0 {
			level, _ := t.rows().Column(a.Column).Domain.Level(a.Level)
			for _, code := range term.Where[i].Codes {
				c.Categories = append(c.Categories, level.Categories[code].Code)
			}
		}
		out.Where = append(out.Where, c)
	}
	return out
}

// termSums returns the sum that a term is computed from: like the sums of other figures, but about the middle of the
// whole range if the table distinguishes strata as well, so that the numerator and the denominator of a cell are in
// one unit.
func termSums(t Table, column string, more []spec.Attribute) Part {
	l := t.rows().Column(column).Lattice
	if l.By == "" || !slices.Contains(slices.Concat(t.CountedBy, more), spec.Attribute{Column: l.By}) {
		return sumsOf(t, column, 1, more)
	}
	return Part{Name: column + "_whole_sums", MoreAttributes: more, Counted: powerOf(t, column, 1, nil)}
}

// whereColumns returns the attributes by which the terms of a ratio select rows.
func whereColumns(s spec.Stat) []spec.Attribute {
	var out []spec.Attribute
	for _, term := range []spec.Term{s.Of, s.Over} {
		for _, c := range term.Where {
			if !slices.Contains(out, c.Attribute) {
				out = append(out, c.Attribute)
			}
		}
	}
	return out
}

func (ratio) Clamped() bool              { return true }
func (ratio) Signed() bool               { return true }
func (ratio) OfCount(f plan.Figure) bool { return f.Of.Counts == "" }

func (ratio) ErrorSources(f plan.Figure, from Measured) ErrorSources {
	rest := ErrorSources{PerRows: true}
	if f.Of.Kind != spec.Count || f.Over.Kind != spec.Count {
		return rest
	}
	cells := cellsOf(*f.Of, from.Rows) + cellsOf(*f.Over, from.Rows)
	if f.Of.Counts == "" {
		rest.Counts = cells
	} else {
		rest.Parts = []Share{{f.Of.Counts, cells}}
	}
	return rest
}

// cellsOf returns how many cells of its part the term adds up, for each cell of the table.
func cellsOf(t plan.Term, rows *spec.Table) float64 {
	n := 1.0
	for _, c := range t.Where {
		size := len(c.Categories)
		if a := plan.AttributeOf(c.Attribute); size == 0 {
			level, _ := rows.Column(a.Column).Domain.Level(a.Level)
			size = level.Size()
		}
		n *= float64(size)
	}
	return n
}

func (ratio) RowsNeeded(f plan.Figure, _ *spec.Table) float64 {
	return float64(2*f.Quality.Margin*float64(f.Quality.Rows)) / leftOpen // a share
}

func (ratio) Describe(l *language.Language, f plan.Figure, _ []string, rows spec.TableWords) string {
	return l.Text("%s over %s", termText(l, *f.Of, rows), termText(l, *f.Over, rows))
}

// termText describes a term.
func termText(l *language.Language, t plan.Term, rows spec.TableWords) string {
	what := l.Text("rows")
	switch t.Kind {
	case spec.Sum:
		what = l.Text("sum of %s", rows.Title(t.Column))
	case spec.Mean:
		what = l.Text("mean of %s", rows.Title(t.Column))
	}
	var where []string
	for _, c := range t.Where {
		if len(c.Categories) > 0 {
			labels := rows.Labels(c.Attribute, c.Categories)
			where = append(where, rows.Title(c.Attribute)+" "+strings.Join(labels, " "+l.Text("or")+" "))
		}
	}
	if len(where) > 0 {
		return l.Text("%s with %s", what, l.List(where))
	}
	return what
}

func (ratio) UnitOf(l *language.Language, f plan.Figure, _ string, rows spec.TableWords) string {
	in := func(t *plan.Term) string {
		if t.Kind == spec.Count {
			return l.Text("rows")
		}
		return rows.Unit(t.Column)
	}
	if in(f.Of) == in(f.Over) {
		return l.Text("a number without a unit")
	}
	per := in(f.Over)
	switch {
	case f.Over.Kind == spec.Count:
		per = l.Text("row")
	case l == language.English:
		per = strings.TrimSuffix(per, "s")
	}
	return l.Text("%s per %s", in(f.Of), per)
}

func (ratio) Truth(f plan.Figure, x Exact) (func(cell int) Truth, error) {
	of, err := termTruth(*f.Of, x)
	if err != nil {
		return nil, err
	}
	over, err := termTruth(*f.Over, x)
	return func(cell int) Truth { return exactly(quotient(of(cell), over(cell))) }, err
}

// termTruth returns a term, of the true rows of each cell.
func termTruth(t plan.Term, x Exact) (func(cell int) float64, error) {
	term, err := x.Term(t)
	return func(cell int) float64 {
		rows, sum := term(cell)
		switch t.Kind {
		case spec.Count:
			return x.Unit() * rows
		case spec.Sum:
			return x.Unit() * sum
		case spec.Mean:
			return quotient(sum, rows)
		}
		return math.NaN()
	}, err
}

// IsMean reports whether a term is a mean, a ratio of a sum and a count itself.
func IsMean(t plan.Term) bool { return t.Kind == spec.Mean }

// IsSum reports whether a term is a sum of a column's values.
func IsSum(t plan.Term) bool { return t.Kind == spec.Sum }
