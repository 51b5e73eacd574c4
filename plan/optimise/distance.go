package optimise

import (
	"slices"

	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/plan/limit"
	"github.com/dprelease/dprelease/plan/residual"
	"github.com/dprelease/dprelease/plan/workload"
	"github.com/dprelease/dprelease/spec"
)

// This file holds the distance: how far one unit can move the integers of a measurement.

// moved is how far one unit can move the integers of a table that is measured by itself.
func (g *Group) moved(r *spec.Release, t *workload.Table) *counted.Sensitivity {
	if !t.Valued() {
		return g.counts(r, t.Unit(r).Cells)
	}
	s, err := t.What.Sensitivity(t.Unit(r))
	if err != nil {
		panic("optimise: only bins of a strategy that there is not have no sensitivity: " + err.Error())
	}
	return s
}

// counts is how far one unit can move so many counts: one, or more.
func (g *Group) counts(r *spec.Release, cells int64) *counted.Sensitivity {
	known := &g.knownCounts[min(cells, 2)-1]
	if *known == nil {
		*known = counted.Unit{Table: r.Table(g.Tables[0].Marginal.Table), Neighbours: r.Privacy.Neighbours,
			Cells: cells}.Counts()
	}
	return *known
}

// moves is how far one unit can move the integers of a residual. Those whose axes have the same moves have the same,
// which is worked out once.
func (g *Group) moves(r *spec.Release, axes residual.Set) *counted.Sensitivity {
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
		known = counted.ResidualSensitivity(r.Privacy.Neighbours, r.Table(g.Tables[0].Marginal.Table).Unit.MaxRows, each)
		if g.known == nil {
			g.known = map[[limit.SharedAttributes]int]*counted.Sensitivity{}
		}
		g.known[kinds] = known
	}
	return known
}
