package compiled

import (
	"math"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/workload"
)

// This file holds how many integers are in memory while a plan is measured.

// Held is how many integers of a measurement are in memory while it is measured, about: all of them or, of a sparse one
// or one of which cells are chosen, those of as many cells as rows are expected and of the false ones, with their
// places.
func Held(p *plan.Plan, m plan.Measurement) int64 {
	if m.Discovery != nil {
		return 2 * workload.UsualGroups
	}
	if m.Above == 0 && m.Top == nil {
		return m.Cells
	}
	held := workload.FilledOf(p.Release().Table(m.Query.Table), m.Cells-m.Impossible)
	for _, t := range p.Tables {
		if t.Sparse != nil && t.Path == m.ID {
			held += int64(math.Ceil(t.Sparse.FalseCells))
		}
	}
	return 2 * held
}
