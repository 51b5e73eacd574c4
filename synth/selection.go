package synth

import (
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/selection"
	"github.com/dprelease/dprelease/spec"
)

// placing lists, by which of its cells a table has, how the answer to its measurement says which they are.
var placing = [selection.Kinds]func(r *spec.Release, planned plan.Table, t *Table, m measured.Measured) error{
	selection.KindAll: func(*spec.Release, plan.Table, *Table, measured.Measured) error { return nil },
	selection.KindAbove: func(_ *spec.Release, _ plan.Table, t *Table, m measured.Measured) error {
		t.Cells, t.Places = len(m.Cells), m.Cells
		return nil
	},
	selection.KindTop:    func(_ *spec.Release, _ plan.Table, t *Table, m measured.Measured) error { return t.choose(m) },
	selection.KindGroups: discover,
}

// placed lists, by which answers are given out, whether an answer says which cells it is of.
var placed = [selection.Kinds]bool{
	selection.KindAll:    false,
	selection.KindAbove:  true,
	selection.KindTop:    true,
	selection.KindGroups: false,
}
