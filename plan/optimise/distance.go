package optimise

import (
	"math/big"
	"slices"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/limit"
	"github.com/dprelease/dprelease/plan/residual"
	"github.com/dprelease/dprelease/plan/workload"
	"github.com/dprelease/dprelease/spec"
)

// This file holds the distance: how far one unit can move the integers of a measurement.

// moved is how far one unit can move the integers of a table that is measured by itself.
func (g *Group) moved(r *spec.Release, t *workload.Table) *workload.Sensitivity {
	if !t.Valued() {
		return g.counts(r, t.CountedCells())
	}
	confidential := r.Table(t.Marginal.Table)
	switch {
	case t.Quantile != nil:
		return t.RankSensitivity(r)
	case t.Diagnostic == plan.UnitsOver:
		return workload.Moves(1)
	case t.Diagnostic != "":
		return workload.Moves(confidential.Unit.MaxRows)
	}
	if t.Distinct != nil {
		return workload.SumSensitivity(r.Privacy.Neighbours, workload.ExtentOf(t.Value, confidential), t.Distinct.PerUnit,
			t.Distinct.PerUnit, t.Cells)
	}
	all, each := workload.RowsOf(confidential.Unit, t.PerUnit, t.CountedCells())
	return workload.SumSensitivity(r.Privacy.Neighbours, workload.ExtentOf(t.Value, confidential), all, each,
		t.CountedCells())
}

// counts is how far one unit can move so many counts: one, or more.
func (g *Group) counts(r *spec.Release, cells int64) *workload.Sensitivity {
	known := &g.knownCounts[min(cells, 2)-1]
	if *known == nil {
		l1, l2Squared, shifts := workload.CountSensitivity(r.Privacy.Neighbours,
			r.Table(g.Tables[0].Marginal.Table).Unit.MaxRows, cells)
		*known = &workload.Sensitivity{L1: l1, L2Squared: l2Squared, Shifts: shifts, Reach: big.NewInt(1)}
	}
	return *known
}

// moves is how far one unit can move the integers of a residual. Those whose axes have the same moves have the same,
// which is worked out once.
func (g *Group) moves(r *spec.Release, axes residual.Set) *workload.Sensitivity {
	if len(axes) == 0 {
		return g.counts(r, 1)
	}
	var kinds [limit.SharedAttributes]int // of the moves of the axes, from 1 on
	for i, a := range axes {
		moves := g.Chains.Columns[a.Column].Moves(a.Level)
		kinds[i] = 1 + slices.Index(g.kinds, moves)
		if kinds[i] == 0 {
			g.kinds = append(g.kinds, moves)
			kinds[i] = len(g.kinds)
		}
	}
	slices.Sort(kinds[:len(axes)])
	known, ok := g.known[kinds]
	if !ok {
		each := make([]residual.Moves, len(axes))
		for i := range each {
			each[i] = g.kinds[kinds[i]-1]
		}
		known = workload.MovesOf(r.Privacy.Neighbours, r.Table(g.Tables[0].Marginal.Table).Unit.MaxRows, each)
		if g.known == nil {
			g.known = map[[limit.SharedAttributes]int]*workload.Sensitivity{}
		}
		g.known[kinds] = known
	}
	return known
}
