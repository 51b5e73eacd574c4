package scan

// This file holds the count of distinct values: how many values of one more column occur among the rows of a cell.

import (
	"fmt"

	"github.com/dprelease/dprelease/histogram/internal/bounding"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/counted"
)

// readDistinct adds a column whose values are distinguished: by its categories or, if it has none, by its lattice
// indexes.
func (t *task) readDistinct(what counted.Counted) error {
	if column := t.table.Column(what.Reads()); column != nil && column.Domain != nil {
		t.categoryColumn(column)
		return nil
	}
	return t.readNumber(what)
}

// refineDistinct records that a query distinguishes the values of a column.
func (t *task) refineDistinct(q *query, what counted.Counted, cells uint64) (err error) {
	q.sparse, q.countsOccupied = true, true
	q.attributes, err = t.distinguishValues(q.attributes, what.Reads(), cells)
	return err
}

// distinguishValues adds the values of a column to the attributes of a query, which has the given number of cells.
func (t *task) distinguishValues(attributes []int, name string, cells uint64) ([]int, error) {
	column := t.table.Column(name)
	if column == nil {
		return nil, fmt.Errorf("%s: the column has no values to distinguish", name)
	}
	if column.Domain == nil {
		return t.alongLattice(attributes, column, cells)
	}
	level, ok := column.Domain.Level("")
	if !ok {
		return nil, fmt.Errorf("%s: the column has no finest categories", name)
	}
	if _, ok := multiplyCells(cells, uint64(level.Size())); !ok {
		return nil, errManyCells
	}
	return append(attributes, t.attributeIndex(column, level)), nil
}

// boundedByValue returns the index of the allowance of a query that counts distinct values. A unit counts for at most
// PerUnit pairs of a cell and a value, and a second row of the same pair changes nothing.
func (t *task) boundedByValue(asked plan.Query, q *query) (int, error) {
	c := bounding.Uncapped()
	c.Groups = uint64(asked.Counted.(counted.Distinct).PerUnit)
	if c.Groups < t.maxRows() {
		c.PerGroup = 1
	}
	return t.allowanceOfCaps(c, q.attributes)
}

// countOccupied returns how many of the filled cells lie in each of `cells` cells. filled is ascending, and each cell
// has `size` consecutive filled cells at most.
//
// Guarantee: where a unit has rows in at most n of the filled cells, the counts with and without it differ by n at
// most in L1, and no count is smaller with it; so replacing a unit changes the counts as removing one unit and adding
// another does. Neighbours: both relations. Argument: docs/proofs/values.md.
func countOccupied(filled []uint64, cells, size int) []int64 {
	counts := make([]int64, cells)
	for _, cell := range filled {
		counts[cell/uint64(size)]++
	}
	return counts
}
