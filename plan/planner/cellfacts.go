package planner

import (
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/optimise"
	"github.com/dprelease/dprelease/plan/selection"
	"github.com/dprelease/dprelease/plan/workload"
)

// This file holds what the plan says of a table's cells once its measurement has a mechanism, by selection.

// forecasts lists what is said of a table, given by its index in the plan, and how many integers of a measurement are
// in memory while it is measured. say returns an error if the budget is too small for the selection.
var forecasts = [selection.Kinds]struct {
	say  func(d *draftPlan, at int, m plan.Measurement) error
	held func(m optimise.PlannedMeasurement) int64
}{
	selection.KindAll:    {sayNothing, heldCells},
	selection.KindAbove:  {(*draftPlan).saySparse, heldFilled},
	selection.KindTop:    {(*draftPlan).sayTop, heldFilled},
	selection.KindGroups: {(*draftPlan).sayGroups, heldCells},
	selection.KindTexts:  {sayNothing, heldCells}, // said where collections are planned
}

func sayNothing(*draftPlan, int, plan.Measurement) error { return nil }

func heldCells(m optimise.PlannedMeasurement) int64 { return m.Cells }

// heldFilled counts the cells that have rows, twice, as their positions are kept too.
func heldFilled(m optimise.PlannedMeasurement) int64 { return 2 * m.Table.Filled }

// forecastCells says of every table which cells it is expected to have.
func (d *draftPlan) forecastCells() error {
	p := d.plan
	p.Cost.Delta = workload.Reserved(p)
	measured := p.Measured()
	for i, t := range d.tables {
		if err := forecasts[t.Selection.Kind()].say(d, i, measured[t.Path]); err != nil {
			return workload.LocateFault(p.Release(), "marginals."+t.Marginal.Name, err)
		}
	}
	return nil
}
