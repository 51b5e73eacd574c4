package page

// This file names cells that could be zero, and explains the verdicts.

import (
	"fmt"
	"slices"
	"strings"

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
		report.Note{Heading: l.Text("Typical margin"), Text: l.Text("For half of the numbers above zero, the margin " +
			"is at most this percentage of the number.")})
}

// TypicalInChart says how the chart shows the typical margin.
func (r View) TypicalInChart() string {
	return r.In().Text("In the chart the dot marks it; the bar around it runs from the best tenth of the numbers to " +
		"nine tenths of them.")
}

// VerdictText says what the verdicts mean.
func (r View) VerdictText() string {
	l := r.In()
	never, use := verdictText(l, usefulness.DoNotUse), verdictText(l, usefulness.UseCells)
	sums, large := verdictText(l, usefulness.AddUpFirst), verdictText(l, usefulness.LargeCellsOnly)
	rule := l.Text("“%s” if the standard error is more than half of an average cell. Otherwise “%s” if at most a "+
		"tenth of the cells could be zero. In all other cases “%s” (“%s” if cells cannot be added up).",
		never, use, sums, large)
	if columns := r.FitColumns(); columns != nil {
		last := columns[len(columns)-1].Name
		rule = l.Text("“%[1]s” if the standard error is more than half of an average cell, or if an average cell is "+
			"in the class “%[5]s” of the spec. Otherwise “%[2]s” if at most a tenth of the cells could be zero and "+
			"at most a tenth are “%[5]s”. In all other cases “%[3]s” (“%[4]s” if cells cannot be added up).",
			never, use, sums, large, last)
	}
	return rule + " " + l.Text("If the spec expects a number of rows, the average cell comes from the plan, and "+
		"otherwise from the noisy counts.")
}

// verdictText writes a verdict.
func verdictText(l *language.Language, v usefulness.Verdict) string { return l.Text(string(v)) }

// zerosOf returns how many of a count's possible cells could be zero.
func zerosOf(l *language.Language, t report.Table, s report.Statistic) string {
	return l.Text("%s of %s", budget.Group(s.NoiseCells), budget.Group(t.Cells-t.Impossible))
}

// zeroCells are the cells of a figure that could be zero.
type zeroCells struct {
	ID, Row, Of string
	Table       report.Table
	Name        string   // of the figure, unless it is the table's only count
	By          string   // what the labels are of
	Cells       []string // labels, none if the report does not name them
}

// Zeros returns the counts with cells that could be zero, by descending share of such cells, and then the other figures
// with such cells.
func (r View) Zeros() []zeroCells {
	var all []zeroCells
	l := r.In()
	by := func(t report.Table, labels []string) string {
		return words.When(len(t.By) > 0 && labels != nil, l.Text("By %s:", l.List(t.TitlesOf(t.By)))+" ")
	}
	in, _, _ := r.CouldBeZero()
	for _, t := range in {
		for k, s := range t.Statistics {
			if s.NoiseCells == 0 {
				continue
			}
			all = append(all, zeroCells{ID: zeroID(r.tableAt(t), k), Table: t, Row: tableID(r.tableAt(t)),
				Of:   zerosOf(l, t, s),
				Name: words.When(len(t.Statistics) > 1, s.Name), By: by(t, s.NoiseLabels), Cells: s.NoiseLabels})
		}
	}
	figured, _ := r.FiguresCouldBeZero()
	for _, t := range figured {
		for k, f := range t.Figures {
			if f.NoiseCells == 0 {
				continue
			}
			all = append(all, zeroCells{ID: r.FigureZeroID(t, k), Table: t, Row: tableID(r.tableAt(t)),
				Of: l.Text("%s of %s", budget.Group(f.NoiseCells), budget.Group(t.Cells)), Name: f.Name,
				By: by(t, f.NoiseLabels), Cells: f.NoiseLabels})
		}
	}
	return all
}

// CellsNamed reports whether the list of cells that could be zero names any.
func (r View) CellsNamed() bool { return r.ZerosNamed() || r.FigureZerosNamed() }

// FigureZeroID returns the id on the page of the cells of a table's k-th figure other than counts that could be zero.
func (r View) FigureZeroID(t report.Table, k int) string {
	return zeroID(r.tableAt(t), len(t.Statistics)+k)
}

// tableAt returns the position of a table.
func (r View) tableAt(t report.Table) int {
	return slices.IndexFunc(r.Tables, func(of report.Table) bool { return of.Path == t.Path })
}

// zeroID returns the id on the page of the cells of a table's figure that could be zero.
func zeroID(table, figure int) string { return fmt.Sprintf("zero-%d-%d", table+1, figure+1) }

// ZeroText says how to find the cells that could be zero.
func (r View) ZeroText() string {
	_, cells, of := r.CouldBeZero()
	figured, figures := r.FiguresCouldBeZero()
	l := r.In()
	var text []string
	if cells > 0 {
		text = append(text, l.Text("The interval of %s of %s reaches zero.", l.Plural(cells, "cell"), budget.Group(of))+
			words.When(!r.ZerosNamed(), " "+l.Text("They are too many to be named here."))+
			" "+l.Text("The files flag them noise_dominates in %s_flag.", r.CountName()))
	}
	if figures > 0 {
		first := figured[0].Figures[slices.IndexFunc(figured[0].Figures,
			func(f report.Figure) bool { return f.NoiseCells > 0 })]
		text = append(text, l.Text("The flag noise_dominates marks %s other than counts, in columns such as %s_flag.",
			l.Plural(figures, "figure"), first.Name)+
			words.When(!r.FigureZerosNamed(), " "+l.Text("They are too many to be named here.")))
	}
	return strings.Join(text, " ")
}
