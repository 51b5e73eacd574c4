package memory

import (
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/selection"
)

// marked lists, by which answers are given out, whether each cell is marked as impossible or not where some are.
var marked = [selection.Kinds]bool{
	selection.KindAll:    true,
	selection.KindAbove:  false, // one cell after the other is looked up
	selection.KindTop:    false, // none is impossible
	selection.KindGroups: false,
}

// markedCells is how many cells of a measurement are marked as impossible or not.
func markedCells(m plan.Measurement) uint64 {
	if m.Impossible <= 0 || !marked[m.Selection.Kind()] {
		return 0
	}
	return uint64(max(m.Cells, 0))
}
