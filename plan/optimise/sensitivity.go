package optimise

import (
	"slices"

	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/plan/limit"
	"github.com/dprelease/dprelease/plan/residual"
	"github.com/dprelease/dprelease/plan/workload"
	"github.com/dprelease/dprelease/spec"
)

// This file holds the sensitivities of measurements.

// tableSensitivity returns the sensitivity of a table that is measured by itself.
func (g *Group) tableSensitivity(r *spec.Release, t *workload.Table) *counted.Sensitivity {
	if !t.CountsOtherThanRows() {
		return g.countSensitivity(r, t.Unit(r).Cells)
	}
	s, err := t.Counted.Sensitivity(t.Unit(r))
	if err != nil {
		panic("optimise: only bins of a strategy that there is not have no sensitivity: " + err.Error())
	}
	return s
}

// countSensitivity returns the sensitivity of counts in that many cells. Only one cell and several differ, and each
// is worked out once.
func (g *Group) countSensitivity(r *spec.Release, cells int64) *counted.Sensitivity {
	known := &g.knownCounts[min(cells, 2)-1]
	if *known == nil {
		*known = counted.Unit{Table: r.Table(g.Tables[0].Marginal.Table), Neighbours: r.Privacy.Neighbours,
			Cells: cells}.Counts()
	}
	return *known
}

// residualSensitivity returns the sensitivity of a residual. Residuals whose axes have the same moves have the same
// sensitivity, which is worked out once.
func (g *Group) residualSensitivity(r *spec.Release, axes residual.Set) *counted.Sensitivity {
	if len(axes) == 0 {
		return g.countSensitivity(r, 1)
	}
	var kinds [limit.SharedAttributes]int // of the moves of the axes, from 1 on
	for i, a := range axes {
		moves := g.Chains.Columns[a.Column].Sensitivity(a.Level)
		kinds[i] = 1 + slices.Index(g.moveKinds, moves)
		if kinds[i] == 0 {
			g.moveKinds = append(g.moveKinds, moves)
			kinds[i] = len(g.moveKinds)
		}
	}
	slices.Sort(kinds[:len(axes)])
	known, ok := g.knownResiduals[kinds]
	if !ok {
		each := make([]residual.Sensitivity, len(axes))
		for i := range each {
			each[i] = g.moveKinds[kinds[i]-1]
		}
		known = counted.ResidualSensitivity(r.Privacy.Neighbours, r.Table(g.Tables[0].Marginal.Table).Unit.AllRows(),
			each)
		if g.knownResiduals == nil {
			g.knownResiduals = map[[limit.SharedAttributes]int]*counted.Sensitivity{}
		}
		g.knownResiduals[kinds] = known
	}
	return known
}
