package workload

import (
	"fmt"

	"github.com/dprelease/dprelease/plan/limit"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/domain"
)

// This file holds how many cells a table has, and how many it counts for when errors are added up.

// maxAttributes bounds the attributes of a table.
const maxAttributes = 63

// Cells returns the number of cells of a table: the product of its levels' sizes.
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

// allCells returns the number of cells of a table that publishes all of them.
func allCells(t *Table, levels []*domain.Level) (int64, error) {
	n, ok := cellProduct(levels, limit.Cells)
	if !ok {
		return 0, &Fault{"by", fmt.Sprintf("table %s would have more than 2^36 cells, which take a terabyte to count",
			t.Path), "coarser levels or fewer attributes, or `cells: {above: N}`: a sparse table, of which the cells " +
			"above a threshold are published"}
	}
	return n, nil
}

// comparedCells returns the number of cells that are compared in a table that publishes some of them.
func comparedCells(t *Table, levels []*domain.Level) (int64, error) {
	n, ok := cellProduct(levels, limit.SparseCells)
	if !ok {
		return 0, &Fault{"by", fmt.Sprintf("table %s would have more than 2^62 cells", t.Path),
			"coarser levels or fewer attributes"}
	}
	return n, nil
}

// cellProduct returns the product of the sizes of levels; it reports false if that is more than most.
func cellProduct(levels []*domain.Level, most int64) (int64, bool) {
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

// Possible returns how many cells get noise, and count when errors are added up. For a sparse table that is how many
// may have rows.
func (t *Table) Possible() int64 { return selecting[t.Selection.Kind()].possible(t) }

// possibleCells returns how many figures of a table that publishes all cells get noise.
func possibleCells(t *Table) int64 {
	return (t.Cells - t.Impossible) / t.Counted.Kind().Traits().PerFigure
}

// UsualGroups is how many cells a table whose number of groups nobody knows counts for in its leaf.
const UsualGroups = 1000

// unknownRows is how many cells a sparse table counts for in its leaf if the spec does not state the number of rows.
const unknownRows = int64(1) << 20

// FilledOf returns how many cells a sparse table counts for when errors are added up: the possible cells, but no more
// than the expected rows.
func FilledOf(t *spec.Table, possible int64) int64 {
	rows := t.ExpectedRows()
	if rows == 0 {
		rows = unknownRows
	}
	return min(rows, possible)
}
