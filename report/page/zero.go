package page

// This file names cells that could be zero, and explains the verdicts.

import (
	"fmt"
	"slices"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan/usefulness"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/internal/words"
)

// tableID returns the id of a table's row on the page.
func tableID(table int) string { return fmt.Sprintf("table-%d", table+1) }

// Columns says what the columns of the list of tables mean.
func (r View) Columns() []report.Note {
	all := []report.Note{{Heading: "Verdict", Text: r.VerdictText()}}
	if rule := r.ApartRule(); rule != "" {
		all = append(all, report.Note{Heading: "Smallest real difference", Text: rule})
	}
	return append(all,
		report.Note{Heading: "Could be zero", Text: "Cells whose interval reaches zero."},
		report.Note{Heading: "Margin", Text: "Half the width of the widest interval."},
		report.Note{Heading: "Typical margin", Text: "Half of the numbers above zero have a margin of at most this part of them: the dot. The bar around it runs from the best tenth to nine tenths."})
}

// VerdictText says what the verdicts mean.
func (r View) VerdictText() string {
	return fmt.Sprintf("“%s” if the standard error is more than half of an average cell%s. Otherwise “%s” if at most a tenth of the cells could be zero%s, else “%s” (“%s” if cells cannot be added up). The average cell is the plan's if the spec expects a number of rows.",
		usefulness.DoNotUse, r.lastClassText(", or one is “%s”"), usefulness.UseCells, r.lastClassText(" or are “%s”"),
		usefulness.AddUpFirst, usefulness.LargeCellsOnly)
}

// zerosOf returns how many of a count's possible cells could be zero.
func zerosOf(t report.Table, s report.Statistic) string {
	return fmt.Sprintf("%s of %s", budget.Group(s.NoiseCells), budget.Group(t.Cells-t.Impossible))
}

// lastClassText formats the name of the last class of precision, "" if there are none.
func (r View) lastClassText(format string) string {
	columns := r.FitColumns()
	if columns == nil {
		return ""
	}
	return fmt.Sprintf(format, columns[len(columns)-1].Name)
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
	in, _, _ := r.CouldBeZero()
	for _, t := range in {
		at := slices.IndexFunc(r.Tables, func(of report.Table) bool { return of.Path == t.Path })
		for k, s := range t.Statistics {
			if s.NoiseCells == 0 {
				continue
			}
			all = append(all, zeroCells{ID: zeroID(at, k), Table: t, Row: tableID(at), Of: zerosOf(t, s),
				Name: words.When(len(t.Statistics) > 1, s.Name),
				By:   words.When(len(t.By) > 0 && s.NoiseLabels != nil, "By "+words.List(t.TitlesOf(t.By))+": "), Cells: s.NoiseLabels})
		}
	}
	return all
}

// zeroID returns the id on the page of a count's cells that could be zero.
func zeroID(table, count int) string { return fmt.Sprintf("zero-%d-%d", table+1, count+1) }

// ZeroText says how to find the cells that could be zero.
func (r View) ZeroText() string {
	_, cells, of := r.CouldBeZero()
	return words.When(cells > 0,
		fmt.Sprintf("The interval of %s of %s reaches zero.%s The files flag them noise_dominates in %s_flag.",
			budget.Plural(cells, "cell"), budget.Group(of),
			words.When(!r.ZerosNamed(), " They are too many to be named here."), r.CountName()))
}
