package maker

// This file computes the verdicts on tables, and names the cells that could be zero.

import (
	"cmp"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/usefulness"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/spec/language"
	"github.com/dprelease/dprelease/synth"
)

const (
	namedCells = 500 // the largest number of cells that could be zero in a report that names them
)

// addZeroLabels names the cells of published tables that could be zero, if they are few enough to be read.
func addZeroLabels(l *language.Language, told []report.Table, tables []synth.Table) {
	listed := report.TablesWhere(told, func(t report.Table) bool { return !t.Aside })
	if report.Total(listed, report.Table.NoiseCells) > namedCells {
		return
	}
	for i, t := range tables {
		for k, s := range t.Statistics {
			for row, flag := range s.Flags {
				if flag == synth.NoiseDominates && !told[i].Aside {
					told[i].Statistics[k].NoiseLabels = append(told[i].Statistics[k].NoiseLabels,
						cmp.Or(rowLabel(t, row), l.Text("total")))
				}
			}
		}
	}
}

// verdictOf returns the verdict on a count, relative to the average cell that the plan expects or, without an
// expectation, to the average of the noisy counts.
func verdictOf(p *plan.Plan, planned plan.Table, t report.Table, s report.Statistic,
	unbiased []float64) usefulness.Verdict {
	cell := t.AverageCell
	if possible := t.Possible(); cell == 0 && possible > 0 {
		for _, v := range unbiased {
			cell += v / float64(possible)
		}
	}
	if t.Possible() == 0 {
		return usefulness.UseCells
	}
	return compiled.VerdictOn(p, planned, cell, s.BadShare())
}
