package compiled

import (
	"math"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/selection"
	"github.com/dprelease/dprelease/plan/workload"
)

// This file holds how many integers are in memory while a plan is measured.

// Held is how many integers of a measurement are in memory while it is measured, about: all of them or, of a sparse one
// or one of which cells are chosen, those of as many cells as rows are expected and of the false ones, with their
// places.
func Held(p *plan.Plan, m plan.Measurement) int64 {
	return heldBy[m.Selection.Kind()](p, m)
}

// heldBy lists, by which answers are given out, how many integers are in memory.
var heldBy = [selection.Kinds]func(p *plan.Plan, m plan.Measurement) int64{
	selection.KindAll:    func(_ *plan.Plan, m plan.Measurement) int64 { return m.Cells },
	selection.KindAbove:  func(p *plan.Plan, m plan.Measurement) int64 { return filled(p, m) + falseCells(p, m) },
	selection.KindTop:    filled,
	selection.KindGroups: func(*plan.Plan, plan.Measurement) int64 { return 2 * workload.UsualGroups },
}

// filled is how many integers cells with rows take, with their places.
func filled(p *plan.Plan, m plan.Measurement) int64 {
	return 2 * workload.FilledOf(p.Release().Table(m.Query.Table), m.Cells-m.Impossible)
}

// falseCells is how many integers the cells take that are without rows and above the threshold, with their places.
func falseCells(p *plan.Plan, m plan.Measurement) int64 {
	if t, ok := p.TableOf(m.ID); ok {
		return 2 * int64(math.Ceil(t.Sparse.FalseCells))
	}
	return 0
}
