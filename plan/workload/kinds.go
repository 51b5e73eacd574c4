package workload

import (
	"slices"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/limit"
	"github.com/dprelease/dprelease/plan/selection"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/domain"
)

// This file lists what a table's selection implies.

// selecting lists what each kind of selection implies for a table.
var selecting = [selection.Kinds]struct {
	// request returns the selection that a marginal asks for, whose columns unlisted have categories that nobody lists;
	// it reports false if the marginal does not ask for this kind.
	request func(m *spec.Marginal, unlisted []*spec.Column) (selection.Selection, bool)
	// cells returns how many cells a table of these levels has.
	cells func(t *Table, levels []*domain.Level) (int64, error)
	// check returns a fault unless the cells can be selected.
	check func(t *Table) error
	// possible returns how many cells get noise, and count when errors are added up.
	possible func(t *Table) int64
	// describe adds to a published table what the spec says of its cells.
	describe func(t *Table, r *spec.Release, out *plan.Table)
	// listed reports whether the cells are listed, and some whether only some are published, by what is counted in
	// them.
	listed, some bool
}{
	selection.KindAll: {requestedAll, allCells, checkNothing, possibleCells, describeNothing, true, false},
	selection.KindAbove: {requestedAbove, comparedCells, checkNothing, func(t *Table) int64 { return t.Filled },
		describeAbove, true, true},
	selection.KindTop: {requestedTop, comparedCells, (*Table).checkTop, (*Table).Top, describeTop, true, true},
	selection.KindGroups: {requestedGroups, groupCells, checkNothing, func(*Table) int64 { return UsualGroups },
		describeGroups, false, true},
	selection.KindTexts: {requestedTexts, textCells, checkNothing, func(*Table) int64 { return UsualGroups },
		describeTexts, false, true},
}

func requestedAll(*spec.Marginal, []*spec.Column) (selection.Selection, bool) {
	return selection.All{}, true
}

func checkNothing(*Table) error { return nil }

func describeNothing(*Table, *spec.Release, *plan.Table) {}

// selectionOf returns the selection of a marginal's count: all answers, if nothing else is asked for.
func selectionOf(m *spec.Marginal, unlisted []*spec.Column) selection.Selection {
	for _, kind := range slices.Backward(selecting[:]) {
		if s, ok := kind.request(m, unlisted); ok {
			return s
		}
	}
	return selection.All{}
}

// CountsOtherThanRows reports whether something other than rows of the confidential table, each as 1, is counted.
func (t *Table) CountsOtherThanRows() bool {
	return t.PartOf != nil || !t.Counted.Kind().Traits().AsRows || t.PerUnit != (spec.PerUnit{})
}

// SomeCells reports whether only some cells are published, selected by what is counted in them, so that they are not
// visited one by one.
func (t *Table) SomeCells() bool { return selecting[t.Selection.Kind()].some }

// IsStandalone reports whether the table is standalone: it is measured by itself, and no other measurement contributes
// to it. It has impossible cells, so that its cells are no sum of residuals; or so many attributes that its residuals
// are too many to list; or it publishes only some cells, so that most of them are not known; or it is of values, or of
// fewer rows than other tables.
func (t *Table) IsStandalone() bool {
	return t.SomeCells() || t.hasImpossible() || t.CountsOtherThanRows() || len(t.CountedBy) > limit.SharedAttributes
}
