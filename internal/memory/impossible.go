package memory

import (
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/selection"
)

// marksImpossible lists, by selection, whether a measurement marks for each cell whether it is impossible.
var marksImpossible = [selection.Kinds]bool{
	selection.KindAll:    true,
	selection.KindAbove:  false, // cells are looked up one by one
	selection.KindTop:    false, // no cell is impossible
	selection.KindGroups: false,
	selection.KindTexts:  false,
}

// markedCells returns for how many cells a measurement marks whether they are impossible.
func markedCells(m plan.Measurement) uint64 {
	if m.Impossible <= 0 || !marksImpossible[m.Selection.Kind()] {
		return 0
	}
	return uint64(max(m.Cells, 0))
}
