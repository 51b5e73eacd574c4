package workload

import (
	"fmt"

	"github.com/dprelease/dprelease/plan/limit"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/domain"
)

// This file holds how many cells a table has, and as how many it counts.

// maxAttributes bounds the attributes of a table.
const maxAttributes = 63

// Cells is the number of cells of a table: the product of its levels' sizes.
func Cells(r *spec.Release, t *Table) (int64, error) {
	if len(t.By) > maxAttributes {
		return 0, &Fault{"by", fmt.Sprintf("table %s would have %d attributes", t.Path, len(t.By)),
			fmt.Sprintf("at most %d", maxAttributes)}
	}
	levels, err := t.Query().Levels(r)
	if err != nil {
		return 0, err
	}
	return selecting[t.Selection.Kind()].cells(t, levels)
}

// allCells is the number of cells of a table that has all of them.
func allCells(t *Table, levels []*domain.Level) (int64, error) {
	n, ok := product(levels, limit.Cells)
	if !ok {
		return 0, &Fault{"by", fmt.Sprintf("table %s would have more than 2^36 cells, which take a terabyte to count",
			t.Path), "coarser levels or fewer attributes, or `cells: {above: N}`: a sparse table, of which the cells above a threshold are published"}
	}
	return n, nil
}

// comparedCells is the number of cells of a table that are compared, of which it has some.
func comparedCells(t *Table, levels []*domain.Level) (int64, error) {
	n, ok := product(levels, limit.SparseCells)
	if !ok {
		return 0, &Fault{"by", fmt.Sprintf("table %s would have more than 2^62 cells", t.Path),
			"coarser levels or fewer attributes"}
	}
	return n, nil
}

// product is that of the sizes of levels; false where it is more than most.
func product(levels []*domain.Level, most int64) (int64, bool) {
	n := int64(1)
	for _, level := range levels {
		size := int64(level.Size())
		if n > most/max(size, 1) {
			return 0, false
		}
		n *= size
	}
	return n, true
}

// Possible is how many cells get noise, and count where errors are added up; of a sparse table as many as may have
// rows.
func (t *Table) Possible() int64 { return selecting[t.Selection.Kind()].possible(t) }

// possibleCells is how many figures get noise of a table that has all cells.
func possibleCells(t *Table) int64 {
	return (t.Cells - t.Impossible) / t.What.Kind().Traits().PerFigure
}

// UsualGroups is as how many cells a table counts beside others of its leaf whose groups nobody knows the number of.
const UsualGroups = 1000

// unknownRows is as how many cells a sparse table counts beside others of its leaf, where the spec says nothing of the
// number of rows.
const unknownRows = int64(1) << 20

// FilledOf is as how many cells a sparse table counts where errors are added up: those that can have rows, of which
// there are no more than rows are expected.
func FilledOf(t *spec.Table, possible int64) int64 {
	rows := t.ExpectedRows()
	if rows == 0 {
		rows = unknownRows
	}
	return min(rows, possible)
}
