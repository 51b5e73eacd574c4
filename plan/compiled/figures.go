package compiled

import (
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/statistic"
	"github.com/dprelease/dprelease/plan/workload"
)

// This file relates the error of a figure to the parts that it is computed from.

// ErrorSources returns what the error of a figure depends on, and the number of rows in a cell for which the error is
// stated; 0 stands for every cell.
func ErrorSources(p *plan.Plan, t plan.Table, f plan.Figure,
	measured map[string]plan.Measurement) (int64, statistic.ErrorSources) {
	confidential := p.Release().Table(t.From)
	rest := statistic.OfFigure(f).ErrorSources(f, statistic.Measured{Rows: confidential, ByID: measured})
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
