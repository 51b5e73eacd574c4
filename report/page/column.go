package page

// This file writes the figures of each table of a page with equally many decimals down a column.

import (
	"github.com/dprelease/dprelease/internal/screen"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/internal/words"
	"github.com/dprelease/dprelease/spec/language"
)

// aligned writes the figures of one column.
type aligned struct {
	l    *language.Language
	form screen.Form
}

// Text writes a figure, Percentage a part of 1, and Level a confidence, rounded down.
func (c aligned) Text(v float64) string       { return c.l.Number(c.form.Nearest(v)) }
func (c aligned) Percentage(v float64) string { return c.l.Number(c.form.Percentage(v)) }
func (c aligned) Level(v float64) string      { return c.l.Number(c.form.Level(v)) }

// columnOf returns the column of what value returns of each row: nothing, one figure or several.
func columnOf[T any](l *language.Language, rows []T, form func([]float64) screen.Form,
	value func(T) []float64) aligned {
	var all []float64
	for _, row := range rows {
		all = append(all, value(row)...)
	}
	return aligned{l, form(all)}
}

// errorColumns are the columns of the tables with errors of counts.
type errorColumns struct{ Error, Best, Half, Most, Good, Usable, Chance aligned }

// ErrorColumns returns the columns of the tables with errors of counts.
func (r View) ErrorColumns() errorColumns {
	var all []report.Statistic
	for _, t := range r.Tables {
		all = append(all, t.Statistics...)
	}
	l := r.In()
	relative := func(of func(report.RelativeMargins) float64) aligned {
		return columnOf(l, all, words.FormOfPercentages, func(s report.Statistic) []float64 {
			if s.Relative == nil {
				return nil
			}
			return []float64{of(*s.Relative)}
		})
	}
	return errorColumns{
		Error: columnOf(l, all, words.FormOfColumn, func(s report.Statistic) []float64 {
			return []float64{s.StandardError, s.Largest}
		}),
		Best:   relative(func(m report.RelativeMargins) float64 { return m.Q10 }),
		Half:   relative(func(m report.RelativeMargins) float64 { return m.Q50 }),
		Most:   relative(func(m report.RelativeMargins) float64 { return m.Q90 }),
		Good:   relative(func(m report.RelativeMargins) float64 { return m.Within10 }),
		Usable: relative(func(m report.RelativeMargins) float64 { return m.Within50 }),
		Chance: columnOf(l, all, words.FormOfLevels, func(s report.Statistic) []float64 {
			return []float64{s.Attained}
		}),
	}
}

// Text writes the standard error of a count, with the largest if cells differ.
func (c errorColumns) Text(s report.Statistic) string {
	if s.Largest > 0 {
		return c.Error.l.Text("%s, at most %s", c.Error.Text(s.StandardError), c.Error.Text(s.Largest))
	}
	return c.Error.Text(s.StandardError)
}

// setColumns are the columns of the table of what was measured for microdata.
type setColumns struct{ Error, Distance, Noise, Rows, Bound, Spread aligned }

// SetColumnsOf returns them.
func (r View) SetColumnsOf(m report.Microdata) setColumns {
	of := func(value func(report.Set) float64) aligned {
		return columnOf(r.In(), m.Sets, words.FormOfColumn, func(s report.Set) []float64 { return []float64{value(s)} })
	}
	return setColumns{
		Error:    of(func(s report.Set) float64 { return s.StandardError }),
		Distance: of(func(s report.Set) float64 { return s.Distance }),
		Noise:    of(func(s report.Set) float64 { return s.NoiseDistance }),
		Rows:     of(func(s report.Set) float64 { return s.RowsDistance }),
		Bound:    of(func(s report.Set) float64 { return s.Bound }),
		Spread:   of(func(s report.Set) float64 { return s.Spread }),
	}
}

// farColumns are the columns of the table of cells in which rows are furthest from the estimate.
type farColumns struct{ Estimate, Error, Model, Rows, Deviations aligned }

// FarColumns returns them.
func (r View) FarColumns(m report.Microdata) farColumns {
	of := func(value func(report.FarCell) float64) aligned {
		return columnOf(r.In(), m.FarCells, words.FormOfColumn,
			func(c report.FarCell) []float64 { return []float64{value(c)} })
	}
	return farColumns{
		Estimate:   of(func(c report.FarCell) float64 { return c.Estimate }),
		Error:      of(func(c report.FarCell) float64 { return c.StandardError }),
		Model:      of(func(c report.FarCell) float64 { return c.Model }),
		Rows:       of(func(c report.FarCell) float64 { return c.Rows }),
		Deviations: of(func(c report.FarCell) float64 { return c.Deviations }),
	}
}

// modelColumns are the columns of the table of a model's scores, by column and by pair.
type modelColumns struct{ Importance, Error, Score aligned }

// ModelColumns returns them.
func (r View) ModelColumns(m report.Model) modelColumns {
	var importances, errors, scores []float64
	for _, c := range m.Columns {
		importances, errors = append(importances, c.Importance), append(errors, c.LargestError())
		scores = append(scores, c.Scores[c.Lowest()], c.Scores[c.Highest()])
	}
	for _, p := range m.Pairs {
		importances, errors = append(importances, p.Importance), append(errors, p.LargestError())
		scores = append(scores, m.LowestOf(p).Score, m.HighestOf(p).Score)
	}
	l := r.In()
	return modelColumns{
		Importance: aligned{l, words.FormOfColumn(importances)}, Error: aligned{l, words.FormOfColumn(errors)},
		Score: aligned{l, words.FormOfColumn(scores)},
	}
}

// termColumns are the columns of the table of a regression's coefficients. A coefficient has the form of its interval.
type termColumns struct{ Coefficient, Error, Noise, Weight aligned }

// TermColumns returns them.
func (r View) TermColumns(m report.Model) termColumns {
	of := func(values func(report.Term) []*float64) aligned {
		return columnOf(r.In(), m.Terms, words.FormOfColumn, func(t report.Term) (all []float64) {
			for _, v := range values(t) {
				if v != nil {
					all = append(all, *v)
				}
			}
			return all
		})
	}
	return termColumns{
		Coefficient: of(func(t report.Term) []*float64 { return []*float64{t.Coefficient, t.Low, t.High} }),
		Error:       of(func(t report.Term) []*float64 { return []*float64{t.StandardError} }),
		Noise:       of(func(t report.Term) []*float64 { return []*float64{t.NoiseError} }),
		Weight:      of(func(t report.Term) []*float64 { return []*float64{&t.Weight} }),
	}
}

// Took returns the column of what parts of the budget took.
func (c budgetChart) Took(l *language.Language) aligned {
	return columnOf(l, c.Bars, words.FormOfPercentages, func(b budgetBar) []float64 { return []float64{b.Part} })
}

// Asked writes a share as the spec has it, in the form of all shares.
func (c budgetChart) Asked(l *language.Language, share string) string {
	of := columnOf(l, c.Bars, words.FormOfPercentages, func(b budgetBar) []float64 {
		if b.Leaf == nil {
			return nil
		}
		if r := words.Exact(b.Leaf.Share); r != nil {
			v, _ := r.Float64()
			return []float64{v}
		}
		return nil
	})
	return l.Number(formatNearest(share, of.form.Percentage))
}

// PartColumn returns the column of what measurements for figures other than counts took of the budget.
func (r View) PartColumn() aligned {
	return columnOf(r.In(), r.Tables, words.FormOfPercentages, func(t report.Table) (all []float64) {
		for _, p := range t.Parts {
			all = append(all, p.PartOfBudget)
		}
		return all
	})
}
