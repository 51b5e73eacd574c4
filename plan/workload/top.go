package workload

import (
	"fmt"
	"math/big"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/selection"
	"github.com/dprelease/dprelease/spec"
)

// This file holds the tables of the largest cells: the candidates of the choice, and the sensitivity of their scores.

// Top returns how many cells of the table are chosen, 0 if it publishes all.
func (t *Table) Top() int64 {
	top, _ := t.Selection.(selection.Top)
	return top.Of
}

// requestedTop returns the selection of a marginal that asks for its largest cells.
func requestedTop(m *spec.Marginal, _ []*spec.Column) (selection.Selection, bool) {
	return selection.Top{Of: m.Top}, m.Top > 0
}

// describeTop says how many cells are chosen.
func describeTop(t *Table, _ *spec.Release, out *plan.Table) {
	out.Top = &selection.TopFacts{Of: t.Top()}
}

// checkTop returns a fault for a table of which no cells can be chosen.
func (t *Table) checkTop() error {
	switch {
	case t.hasImpossible():
		return &Fault{"top", fmt.Sprintf("table %s has impossible cells, among which none may be chosen", t.Path),
			"a table without what is impossible, or without `top`"}
	case t.Cells <= t.Top():
		return &Fault{"top", fmt.Sprintf("table %s has %s, and %d are to be chosen", t.Path,
			budget.Plural(t.Cells, "cell"),
			t.Top()), "a smaller number; without `top` all cells are published, for less"}
	}
	return nil
}

// Choices returns the choices of a table, without their mechanism.
//
// Guarantee: no unit changes the integer of a cell by more than Sensitivity and, where Monotone, raises none while it
// lowers another. Neighbours: under add-remove one unit's rows come or go, at most each of them in one cell, of
// weights of 0 or more; under replace the integer of a cell is in [0, each·M] of either unit, with M the largest
// weight, so it changes by at most that. Argument: docs/proofs/topk.md.
func (t *Table) Choices(r *spec.Release) (selection.Top, error) {
	confidential := r.Table(t.Marginal.Table)
	_, each := t.Unit(r).Rows()
	e := t.Counted.Extent(confidential)
	moves := new(big.Int).Mul(e.Largest(), big.NewInt(each))
	if !moves.IsInt64() || e.Least.Sign() < 0 {
		return selection.Top{}, &Fault{"top",
			fmt.Sprintf("a unit can move a cell of table %s further than counts are compared by", t.Path),
			"a smaller range of the weight, or a coarser step"}
	}
	return selection.Top{Of: t.Top(), Sensitivity: moves.Int64(), Monotone: r.Privacy.Neighbours == spec.AddRemove}, nil
}
