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

// addZeroLabels names the cells of published tables that could be zero, if they are few enough to be read: those of
// counts, and then those of other figures if all together are still few enough.
func addZeroLabels(l *language.Language, told []report.Table, tables []synth.Table) {
	listed := report.TablesWhere(told, func(t report.Table) bool { return !t.Aside })
	counts := report.Total(listed, report.Table.NoiseCells)
	all := counts + report.Total(listed, report.Table.NoiseFigures)
	for i, t := range tables {
		if told[i].Aside {
			continue
		}
		for k, s := range t.Statistics {
			if counts <= namedCells {
				told[i].Statistics[k].NoiseLabels = zeroLabels(l, t, s.Flags)
			}
		}
		for k, n := range t.Numbers {
			if all <= namedCells {
				told[i].Figures[k].NoiseLabels = zeroLabels(l, t, n.Flags)
			}
		}
	}
}

// zeroLabels names the cells of a figure that could be zero by its flags, nil for none.
func zeroLabels(l *language.Language, t synth.Table, flags []synth.Flag) (labels []string) {
	for row, flag := range flags {
		if flag == synth.NoiseDominates {
			labels = append(labels, cmp.Or(rowLabel(t, row), l.Text("total")))
		}
	}
	return labels
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
