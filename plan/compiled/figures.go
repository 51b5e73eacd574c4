package compiled

import (
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/statistic"
	"github.com/dprelease/dprelease/plan/workload"
)

// This file holds what the error of a figure rests on: which parts, and with which factors.

// RestsOn returns what the error of a figure rests on, and for a cell of how many rows it is said; 0 stands for every
// cell.
func RestsOn(p *plan.Plan, t plan.Table, f plan.Figure, measured map[string]plan.Measurement) (int64, statistic.Rest) {
	confidential := p.Release().Table(t.From)
	rest := statistic.OfFigure(f).RestsOn(f, statistic.Measured{Rows: confidential, ByID: measured})
	rows := int64(workload.GoodRows)
	if w := confidential.Weight; w != nil {
		most, _ := w.Lattice.Step.Float64()
		rows = int64(float64(workload.GoodRows*w.Lattice.Last) * most)
	}
	if !rest.PerRows {
		rows = 0
	}
	return rows, rest
}
