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

// VerdictText says what the verdicts mean.
func (r View) VerdictText() string {
	unfit := r.lastClassText(", or that is “%s”")
	return fmt.Sprintf("Verdict: “%s” where the standard error is more than half of an average cell%s, as the plan says beforehand where the spec expects a number of rows. Else “%s” where at most a tenth of the cells %s, “%s” (“%s” where cells cannot be added up) where more do. A cell could be zero if its interval reaches zero.",
		usefulness.DoNotUse, unfit, usefulness.UseCells, "could be zero"+r.lastClassText(" or are “%s”"),
		usefulness.AddUpFirst,
		usefulness.LargeCellsOnly)
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
	ID, Path, Row, Of string
	Cells             []string // labels, none if the report does not name them
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
			of := words.When(len(t.Statistics) > 1, s.Name+": ") + zerosOf(t, s) +
				words.When(len(t.By) > 0 && s.NoiseLabels != nil, " by "+words.List(t.By))
			all = append(all, zeroCells{ID: zeroID(at, k), Path: t.Path, Row: tableID(at), Of: of, Cells: s.NoiseLabels})
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
		fmt.Sprintf("%s of %s: the interval reaches zero.%s In the files they have noise_dominates in the column %s_flag, in the tables behind charts the mark ○, in charts a hollow dot or hatching.",
			words.Capital(budget.Plural(cells, "cell")), budget.Group(of),
			words.When(!r.ZerosNamed(), " They are too many to be named here."), r.CountName()))
}
