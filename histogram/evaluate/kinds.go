package evaluate

import (
	"math"

	"github.com/dprelease/dprelease/plan/statistic"
	"github.com/dprelease/dprelease/spec"
)

// This file lists what the truth is of each statistic.

// truthOf lists what a figure of a kind is of the true rows of each cell.
var truthOf = [spec.StatKinds]func(x *truths) (func(cell int) truth, error){
	spec.Count:     (*truths).count,
	spec.Sum:       ofMoments(sumOf),
	spec.Units:     (*truths).part,
	spec.Distinct:  (*truths).part,
	spec.Mean:      ofMoments(meanOf),
	spec.Ratio:     (*truths).ratio,
	spec.Variance:  ofMoments(varianceOf),
	spec.Deviation: ofMoments(deviationOf),
	spec.Quantiles: (*truths).quantile,
	spec.Share:     (*truths).share,
	spec.Variation: ofMoments(variationOf),
}

// termOf lists what a term of a kind is, of rows by weight and of the sum of their values, in the unit of the table's
// count.
var termOf = [spec.StatKinds]func(unit, rows, sum float64) float64{
	spec.Count:     func(unit, rows, _ float64) float64 { return unit * rows },
	spec.Sum:       func(unit, _, sum float64) float64 { return unit * sum },
	spec.Units:     noTerm,
	spec.Distinct:  noTerm,
	spec.Mean:      func(_, rows, sum float64) float64 { return quotient(sum, rows) },
	spec.Ratio:     noTerm,
	spec.Variance:  noTerm,
	spec.Deviation: noTerm,
	spec.Quantiles: noTerm,
	spec.Share:     noTerm,
	spec.Variation: noTerm,
}

// noTerm is of statistics that are no terms of ratios.
func noTerm(_, _, _ float64) float64 { return math.NaN() }

// count is the count of the table itself.
func (x *truths) count() (func(cell int) truth, error) {
	return func(cell int) truth { return exactly(x.unit * float64(x.got[""].Counts[cell])) }, nil
}

// variationOf is the coefficient of variation.
func variationOf(m moments, unit float64) float64 {
	return quotient(deviationOf(m, unit), math.Abs(meanOf(m, unit)))
}

// part is what a measurement of its own counts.
func (x *truths) part() (func(cell int) truth, error) {
	part := x.got[x.figure.Part].Counts
	return func(cell int) truth { return exactly(float64(part[cell])) }, nil
}

// share is the count of a cell over the total of several.
func (x *truths) share() (func(cell int) truth, error) {
	levels, err := x.asked[""].Query.Levels(x.comparison.plan.Release())
	if err != nil {
		return nil, err
	}
	sizes := make([]int, len(levels))
	for i, level := range levels {
		sizes[i] = level.Size()
	}
	counts := x.got[""].Counts
	of, all := statistic.Totals(x.figure, x.table.By, sizes)
	totals := make([]float64, all)
	for cell, count := range counts {
		totals[of[cell]] += float64(count)
	}
	return func(cell int) truth { return exactly(quotient(float64(counts[cell]), totals[of[cell]])) }, nil
}
