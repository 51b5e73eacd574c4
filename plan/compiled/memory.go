package compiled

import (
	"math"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/selection"
	"github.com/dprelease/dprelease/plan/workload"
)

// This file holds how many integers are in memory while a plan is measured.

// IntegersInMemory returns about how many integers of a measurement are in memory while it is measured: all of them or,
// for a sparse measurement or one with chosen cells, the integers and indices of as many cells as rows are expected,
// and of the false cells.
func IntegersInMemory(p *plan.Plan, m plan.Measurement) int64 {
	return heldBy[m.Selection.Kind()](p, m)
}

// heldBy lists, by selection, how many integers are in memory.
var heldBy = [selection.Kinds]func(p *plan.Plan, m plan.Measurement) int64{
	selection.KindAll:    func(_ *plan.Plan, m plan.Measurement) int64 { return m.Cells },
	selection.KindAbove:  func(p *plan.Plan, m plan.Measurement) int64 { return filledCells(p, m) + falseCells(p, m) },
	selection.KindTop:    filledCells,
	selection.KindGroups: func(*plan.Plan, plan.Measurement) int64 { return 2 * workload.UsualGroups },
	selection.KindTexts:  textsFound,
}

// textsFound returns how many integers the texts that can be found take, with the texts.
func textsFound(_ *plan.Plan, m plan.Measurement) int64 {
	texts, _ := m.Texts()
	return 2 * texts.Followed
}

// filledCells returns how many integers cells with rows take, with their indices.
func filledCells(p *plan.Plan, m plan.Measurement) int64 {
	return 2 * workload.FilledOf(p.Release().Table(m.Query.Table), m.Cells-m.Impossible)
}

// falseCells returns how many integers the cells without rows that are above the threshold take, with their indices.
func falseCells(p *plan.Plan, m plan.Measurement) int64 {
	if t, ok := p.TableOf(m.ID); ok {
		return 2 * int64(math.Ceil(t.Sparse.FalseCells))
	}
	return 0
}
