package page

// This file names cells that could be zero, and explains the verdicts.

import (
	"fmt"
	"slices"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan/usefulness"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/internal/words"
	"github.com/dprelease/dprelease/spec/language"
)

// tableID returns the id of a table's row on the page.
func tableID(table int) string { return fmt.Sprintf("table-%d", table+1) }

// Columns says what the columns of the list of tables mean.
func (r View) Columns() []report.Note {
	l := r.In()
	all := []report.Note{{Heading: l.Text("Verdict"), Text: r.VerdictText()}}
	if rule := r.ApartRule(); rule != "" {
		all = append(all, report.Note{Heading: l.Text("Smallest real difference"), Text: rule})
	}
	return append(all,
		report.Note{Heading: l.Text("Could be zero"), Text: l.Text("Cells whose interval reaches zero.")},
		report.Note{Heading: l.Text("Margin"), Text: l.Text("Half the width of the widest interval.")},
		report.Note{Heading: l.Text("Typical margin"), Text: l.Text("Half of the numbers above zero have a margin of at most this percentage of the number.")})
}

// TypicalInChart says how the chart shows the typical margin.
func (r View) TypicalInChart() string {
	return r.In().Text("In the chart the dot marks it; the bar around it runs from the best tenth of the numbers to nine tenths of them.")
}

// VerdictText says what the verdicts mean.
func (r View) VerdictText() string {
	l := r.In()
	never, use := verdictText(l, usefulness.DoNotUse), verdictText(l, usefulness.UseCells)
	sums, large := verdictText(l, usefulness.AddUpFirst), verdictText(l, usefulness.LargeCellsOnly)
	rule := l.Text("“%s” if the standard error is more than half of an average cell. Otherwise “%s” if at most a tenth of the cells could be zero. In all other cases “%s” (“%s” if cells cannot be added up).",
		never, use, sums, large)
	if columns := r.FitColumns(); columns != nil {
		last := columns[len(columns)-1].Name
		rule = l.Text("“%[1]s” if the standard error is more than half of an average cell, or if an average cell is in the class “%[5]s” of the spec. Otherwise “%[2]s” if at most a tenth of the cells could be zero and at most a tenth are “%[5]s”. In all other cases “%[3]s” (“%[4]s” if cells cannot be added up).",
			never, use, sums, large, last)
	}
	return rule + " " + l.Text("If the spec expects a number of rows, the average cell comes from the plan, and otherwise from the noisy counts.")
}

// verdictText writes a verdict.
func verdictText(l *language.Language, v usefulness.Verdict) string { return l.Text(string(v)) }

// zerosOf returns how many of a count's possible cells could be zero.
func zerosOf(l *language.Language, t report.Table, s report.Statistic) string {
	return l.Text("%s of %s", budget.Group(s.NoiseCells), budget.Group(t.Cells-t.Impossible))
}

// zeroCells are the cells of a count that could be zero.
type zeroCells struct {
	ID, Row, Of string
	Table       report.Table
	Name        string   // of the count, if the table has several
	By          string   // what the labels are of
	Cells       []string // labels, none if the report does not name them
}

// Zeros returns the counts with cells that could be zero, by descending share of such cells.
func (r View) Zeros() []zeroCells {
	var all []zeroCells
	l := r.In()
	in, _, _ := r.CouldBeZero()
	for _, t := range in {
		at := slices.IndexFunc(r.Tables, func(of report.Table) bool { return of.Path == t.Path })
		for k, s := range t.Statistics {
			if s.NoiseCells == 0 {
				continue
			}
			all = append(all, zeroCells{ID: zeroID(at, k), Table: t, Row: tableID(at), Of: zerosOf(l, t, s),
				Name:  words.When(len(t.Statistics) > 1, s.Name),
				By:    words.When(len(t.By) > 0 && s.NoiseLabels != nil, l.Text("By %s:", l.List(t.TitlesOf(t.By)))+" "),
				Cells: s.NoiseLabels})
		}
	}
	return all
}

// zeroID returns the id on the page of a count's cells that could be zero.
func zeroID(table, count int) string { return fmt.Sprintf("zero-%d-%d", table+1, count+1) }

// ZeroText says how to find the cells that could be zero.
func (r View) ZeroText() string {
	_, cells, of := r.CouldBeZero()
	l := r.In()
	return words.When(cells > 0,
		l.Text("The interval of %s of %s reaches zero.", l.Plural(cells, "cell"), budget.Group(of))+
			words.When(!r.ZerosNamed(), " "+l.Text("They are too many to be named here."))+
			" "+l.Text("The files flag them noise_dominates in %s_flag.", r.CountName()))
}
