package evaluate

import (
	"slices"

	"github.com/dprelease/dprelease/plan/counted"
)

// This file holds the values of the true rows, of which quantiles are.

// Values returns the values of a column that occur in a cell, ascending, and how many rows have each.
func (x *truths) Values(id string) (func(cell int) (values []float64, rows []int64), error) {
	q, pairs := x.asked[id].Query.Counted.(counted.Quantiles), x.got[id]
	l := x.comparison.plan.Release().Table(x.table.From).Column(q.Column).Lattice
	step, _ := l.Step.Float64()
	points := uint64(l.PointCount())
	return func(cell int) (values []float64, rows []int64) {
		from, _ := slices.BinarySearch(pairs.Cells, uint64(cell)*points)
		end, _ := slices.BinarySearch(pairs.Cells, uint64(cell+1)*points)
		for _, pair := range pairs.Cells[from:end] {
			values = append(values, step*float64(l.First+int64(pair%points)))
		}
		return values, slices.Clone(pairs.Counts[from:end])
	}, nil
}
