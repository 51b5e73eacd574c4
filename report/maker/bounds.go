package maker

// This file describes the bounds: the ranges to which values and weights are clamped before they are added up, and the
// largest contribution of one unit to a table.

import (
	"slices"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/spec"
)

// boundsOf returns the bounds of a release, nil if it only counts rows, each as one, under a single bound on rows.
func boundsOf(p *plan.Plan, tables []report.Table) *report.Bounds {
	b := &report.Bounds{Columns: []report.ColumnBounds{}, Weights: []report.WeightBounds{},
		Tables: []report.TableBounds{}}
	for _, t := range p.Release().Tables {
		for _, c := range t.Columns {
			if c.Lattice != nil && hasFiguresOf(p, tables, t.Name, c.Name) {
				b.Columns = append(b.Columns, columnBoundsOf(t, c))
			}
		}
		b.Weights = append(b.Weights, weightBoundsOf(p, t)...)
	}
	for _, t := range p.Tables {
		if u := t.PerUnit; u != (spec.PerUnit{}) {
			b.Tables = append(b.Tables, report.TableBounds{Table: t.Path, Groups: u.Groups,
				RowsPerGroup: u.RowsPerGroup,
				Total:        u.Total})
		}
	}
	if len(b.Columns)+len(b.Weights)+len(b.Tables) == 0 {
		return nil
	}
	return b
}

// hasFiguresOf reports whether figures use the values of a column of a confidential table.
func hasFiguresOf(p *plan.Plan, tables []report.Table, from, column string) bool {
	for i, t := range tables {
		if p.Tables[i].From == from &&
			slices.ContainsFunc(t.Figures, func(f report.Figure) bool { return slices.Contains(f.Columns, column) }) {
			return true
		}
	}
	return false
}

func columnBoundsOf(t *spec.Table, c *spec.Column) report.ColumnBounds {
	l := c.Lattice
	out := report.ColumnBounds{Table: t.Name, Column: c.Name, Step: budget.FormatRat(l.Step), By: l.By,
		Ranges: []report.Range{}}
	between := func(category string, first, last int64) {
		out.Ranges = append(out.Ranges, report.Range{Category: category, Low: budget.FormatRat(l.Value(first)),
			High: budget.FormatRat(l.Value(last))})
	}
	if l.By == "" {
		between("", l.First, l.Last)
		return out
	}
	finest, _ := t.Column(l.By).Domain.Level("")
	for i, s := range l.Strata {
		between(finest.Categories[i].Code, s.First, s.Last)
	}
	return out
}
