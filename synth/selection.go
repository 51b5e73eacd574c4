package synth

import (
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/selection"
	"github.com/dprelease/dprelease/spec"
)

// setIndexes lists, by how a table's cells are selected, how the answer to its measurement gives the cells of the
// table.
var setIndexes = [selection.Kinds]func(r *spec.Release, planned plan.Table, t *Table, m measured.Measured) error{
	selection.KindAll: func(*spec.Release, plan.Table, *Table, measured.Measured) error { return nil },
	selection.KindAbove: func(_ *spec.Release, _ plan.Table, t *Table, m measured.Measured) error {
		t.Cells, t.CellIndices = len(m.Cells), m.Cells
		return nil
	},
	selection.KindTop: func(_ *spec.Release, _ plan.Table, t *Table, m measured.Measured) error {
		return t.setChosen(m)
	},
	selection.KindGroups: setGroups,
	selection.KindTexts:  setGroups,
}

// listsCells lists, by how cells are selected, whether an answer names its cells.
var listsCells = [selection.Kinds]bool{
	selection.KindAll:    false,
	selection.KindAbove:  true,
	selection.KindTop:    true,
	selection.KindGroups: false,
	selection.KindTexts:  false,
}
