package planner

import (
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/optimise"
	"github.com/dprelease/dprelease/plan/selection"
	"github.com/dprelease/dprelease/plan/workload"
)

// This file holds what the plan says of the cells that a table has once its measurement has a mechanism, by which
// answers are given out.

// forecasts lists what is said of a table at a place in the plan, and how many integers of a measurement are held while
// it is measured. Saying it fails where the budget is too little for the selection.
var forecasts = [selection.Kinds]struct {
	say  func(d *draftPlan, at int, m plan.Measurement) error
	held func(m optimise.Planned) int64
}{
	selection.KindAll:    {sayNothing, heldCells},
	selection.KindAbove:  {(*draftPlan).saySparse, heldFilled},
	selection.KindTop:    {(*draftPlan).sayTop, heldFilled},
	selection.KindGroups: {(*draftPlan).sayGroups, heldCells},
}

func sayNothing(*draftPlan, int, plan.Measurement) error { return nil }

func heldCells(m optimise.Planned) int64 { return m.Cells }

// heldFilled counts the cells that have rows, of which it has to be kept too where they are.
func heldFilled(m optimise.Planned) int64 { return 2 * m.Table.Filled }

// forecast says of every table which cells it is expected to have.
func (d *draftPlan) forecast() error {
	p := d.plan
	p.Cost.Delta = workload.Reserved(p)
	measured := p.Measured()
	for i, t := range d.tables {
		if err := forecasts[t.Selection.Kind()].say(d, i, measured[t.Path]); err != nil {
			return workload.At(p.Release(), "marginals."+t.Marginal.Name, err)
		}
	}
	return nil
}
