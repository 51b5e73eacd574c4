package statistic

import (
	"slices"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/language"
)

// This file holds the share of a cell's rows in those of several cells together.

// share is a ratio of two sums of the table's own counts: the denominator takes the cells that agree with the cell in
// some attributes, with any category of the others.
type share struct{ plain }

func (share) Plural(l *language.Language) string { return l.Text("shares") }

func (share) Parts(t Table, s spec.Stat) ([]Part, error) {
	if t.Units {
		return nil, &Fault{s.Name + " is of rows, and the table counts units, of which one can be in several cells",
			"stats: [count, …] in place of units"}
	}
	return nil, nil
}

func (share) Figures(t Table, s spec.Stat) []plan.Figure {
	f := figure(s)
	f.Of, f.Over = &plan.Term{Kind: spec.Count}, &plan.Term{Kind: spec.Count}
	for _, a := range t.By {
		if !slices.Contains(s.Within, a) {
			f.Over.Where = append(f.Over.Where, plan.Condition{Attribute: a.String()})
		}
	}
	return []plan.Figure{f}
}

func (share) OfCount(plan.Figure) bool { return true }
func (share) OfTotal() bool            { return true }

// ErrorSources says the error of a share of 1/k, of a cell among k with as many rows, each with independent noise: A/B
// for a cell A of a total B has the variance of (A − B/k)/B, which is 1 − 1/k times that of a cell, over the square of
// k times its rows.
func (share) ErrorSources(f plan.Figure, from Measured) ErrorSources {
	k := cellsOf(*f.Over, from.Rows)
	return ErrorSources{PerRows: true, Counts: (1 - 1/k) / squareOf(k)}
}

func (share) Describe(l *language.Language, f plan.Figure, by []string, rows spec.TableWords) string {
	var same []string
	for _, attribute := range by {
		if !TakesAllCategories(f, attribute) {
			same = append(same, rows.Title(attribute))
		}
	}
	if same == nil {
		return l.Text("share of all rows")
	}
	return l.Text("share of the rows with the same %s", l.List(same))
}

func (share) UnitOf(l *language.Language, _ plan.Figure, _ string, _ spec.TableWords) string {
	return l.Text("fractions from 0 to 1")
}
func (share) HasMap() bool { return true }

func (share) Truth(f plan.Figure, x Exact) (func(cell int) Truth, error) {
	by, sizes, err := x.Attributes()
	if err != nil {
		return nil, err
	}
	of, all := Totals(f, by, sizes)
	totals := make([]float64, all)
	for cell, total := range of {
		totals[total] += x.Rows(cell)
	}
	return func(cell int) Truth { return exactly(quotient(x.Rows(cell), totals[of[cell]])) }, nil
}

// Totals says which total the share of each cell of a table is of, by the table's attributes and how many categories
// each has: cells with the same number share a total, of which there are so many.
func Totals(f plan.Figure, by []string, sizes []int) (of []int, totals int) {
	of, totals = []int{0}, 1
	for i, size := range sizes {
		own := size // how many totals its categories are in
		if TakesAllCategories(f, by[i]) {
			own = 1
		}
		next := make([]int, 0, len(of)*size)
		for _, total := range of {
			for category := range size {
				next = append(next, total*own+category%own)
			}
		}
		of, totals = next, totals*own
	}
	return of, totals
}

// TakesAllCategories reports whether the total of a share takes all categories of an attribute.
func TakesAllCategories(f plan.Figure, attribute string) bool {
	return slices.ContainsFunc(f.Over.Where, func(c plan.Condition) bool { return c.Attribute == attribute })
}
