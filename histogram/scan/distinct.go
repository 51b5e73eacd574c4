package scan

// This file holds the values that are told apart: in how many ways the rows of a cell differ along one more column.

import (
	"fmt"

	"github.com/dprelease/dprelease/histogram/internal/bounding"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/counted"
)

// readDistinct adds a column whose values are told apart: by its categories or, where it has none, its places.
func (t *task) readDistinct(what counted.Counted) error {
	if column := t.table.Column(what.Reads()); column != nil && column.Domain != nil {
		t.column(column)
		return nil
	}
	return t.readNumber(what)
}

// refineDistinct notes that the values of a column are told apart.
func (t *task) refineDistinct(q *query, what counted.Counted, cells uint64) (err error) {
	q.sparse, q.occupied = true, true
	q.attributes, err = t.toldApart(q.attributes, what.Reads(), cells)
	return err
}

// toldApart adds the values of a column to the attributes of a query, whose cells are so many.
func (t *task) toldApart(attributes []int, name string, cells uint64) ([]int, error) {
	column := t.table.Column(name)
	if column == nil {
		return nil, fmt.Errorf("%s: the column has no values to be told apart", name)
	}
	if column.Domain == nil {
		return t.along(attributes, column, cells)
	}
	level, ok := column.Domain.Level("")
	if !ok {
		return nil, fmt.Errorf("%s: the column has no finest categories", name)
	}
	if _, ok := product(cells, uint64(level.Size())); !ok {
		return nil, errManyCells
	}
	return append(attributes, t.attribute(column, level)), nil
}

// boundedByValue is the place of the allowance of a query that counts different values: a unit counts for so many pairs
// of a cell and a value, and a second row of a pair says nothing.
func (t *task) boundedByValue(asked plan.Query, q *query) (int, error) {
	c := bounding.Uncapped()
	c.Groups = uint64(asked.Counted.(counted.Distinct).PerUnit)
	if c.Groups < t.mostRows() {
		c.PerGroup = 1
	}
	return t.capped(c, q.attributes)
}

// occupied is how many of the filled cells, ascending, each of so many cells has, where size of them stand behind one
// another in each.
//
// Guarantee: where a unit has rows in at most n of the filled cells, the counts with and without it differ by n at most
// in L1, and none is less with it; so two units that take each other's place move them as two that add and remove rows.
// Neighbours: both relations. Argument: docs/proofs/values.md.
func occupied(filled []uint64, cells, size int) []int64 {
	counts := make([]int64, cells)
	for _, cell := range filled {
		counts[cell/uint64(size)]++
	}
	return counts
}
