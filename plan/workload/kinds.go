package workload

import (
	"slices"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/limit"
	"github.com/dprelease/dprelease/plan/selection"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/domain"
)

// This file lists what follows for a table from which answers are given out.

// selecting lists what follows from which answers are given out.
var selecting = [selection.Kinds]struct {
	// asked returns the selection as a marginal asks for it, whose columns unlisted have categories that nobody lists;
	// false where the marginal does not ask for this kind.
	asked func(m *spec.Marginal, unlisted []*spec.Column) (selection.Selection, bool)
	// cells returns how many cells a table of these levels has.
	cells func(t *Table, levels []*domain.Level) (int64, error)
	// check returns a fault unless the cells can be selected.
	check func(t *Table) error
	// possible returns how many cells get noise, and count where errors are added up.
	possible func(t *Table) int64
	// tell adds to a published table what the spec says of the cells that it has.
	tell func(t *Table, r *spec.Release, out *plan.Table)
	// listed says that the cells are listed, and some that the table has some of them, by what is counted in them.
	listed, some bool
}{
	selection.KindAll: {askedAll, allCells, checkNothing, possibleCells, tellNothing, true, false},
	selection.KindAbove: {askedAbove, comparedCells, checkNothing, func(t *Table) int64 { return t.Filled }, tellAbove,
		true, true},
	selection.KindTop: {askedTop, comparedCells, (*Table).checkTop, (*Table).Top, tellTop, true, true},
	selection.KindGroups: {askedGroups, groupCells, checkNothing, func(*Table) int64 { return UsualGroups }, tellGroups,
		false, true},
}

func askedAll(*spec.Marginal, []*spec.Column) (selection.Selection, bool) {
	return selection.All{}, true
}

func checkNothing(*Table) error { return nil }

func tellNothing(*Table, *spec.Release, *plan.Table) {}

// selectionOf returns which answers of a marginal's count are given out: all, where nothing else is asked for.
func selectionOf(m *spec.Marginal, unlisted []*spec.Column) selection.Selection {
	for _, kind := range slices.Backward(selecting[:]) {
		if s, ok := kind.asked(m, unlisted); ok {
			return s
		}
	}
	return selection.All{}
}

// Valued tells that it is not the rows of the confidential table that are counted, each as 1.
func (t *Table) Valued() bool {
	return t.Of != nil || !t.What.Kind().Traits().AsRows || t.PerUnit != (spec.PerUnit{})
}

// SomeCells tells that some cells are published, by what is counted in them, so that they are not visited one by one.
func (t *Table) SomeCells() bool { return selecting[t.Selection.Kind()].some }

// Apart tells that the table is measured by itself, and nothing else bears on it: it has impossible cells, so that its
// cells are no sum of residuals, or so many attributes that its residuals are too many to list; or it has some of its
// cells, so that most of them are not known; or it is of values, or of fewer rows than others.
func (t *Table) Apart() bool {
	return t.SomeCells() || t.masked() || t.Valued() || len(t.Counted) > limit.SharedAttributes
}
