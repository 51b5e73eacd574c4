package histogram

import (
	"context"
	"math"

	"github.com/dprelease/dprelease/histogram/internal/answer"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/plan/selection"
)

// This file lists what the core does with each kind of what is counted and of what is given out.

// gift is how answers are given out: the form that exact answers must have for it, as what is drawn, and how many
// figures leave, rests on that; and how they get their noise.
type gift struct {
	formed func(m plan.Measurement, a answer.Answer) bool
	give   func(x *opened, ctx context.Context, a asked) (measured.Measured, error)
}

// gifts lists how answers are given out, by what is counted and by which answers are given out. Pairs that are not legal
// ([plan.Measurement.Check]) have none.
var gifts = [counted.Kinds][selection.Kinds]gift{
	counted.KindRows: {
		selection.KindAll:    {isDense, (*opened).noisy},
		selection.KindAbove:  {isSparse, (*opened).sparse},
		selection.KindTop:    {isScored, (*opened).top},
		selection.KindGroups: {isGrouped, (*opened).selected},
	},
	counted.KindValues: {
		selection.KindAll:   {isDense, (*opened).noisy},
		selection.KindAbove: {isSparse, (*opened).sparse},
		selection.KindTop:   {isScored, (*opened).top},
	},
	counted.KindQuantiles:  {selection.KindAll: {isRanked, (*opened).quantiles}},
	counted.KindBins:       {selection.KindAll: {isDense, (*opened).noisy}},
	counted.KindDistinct:   {selection.KindAll: {isDense, (*opened).noisy}},
	counted.KindDiagnostic: {selection.KindAll: {isDense, (*opened).noisy}},
}

// giftOf returns how the answers to a measurement are given out; one without functions where its pair is not legal.
func giftOf(m plan.Measurement) gift { return gifts[m.Query.Counted.Kind()][m.Selection.Kind()] }

// isDense reports whether there is a count for every cell.
func isDense(m plan.Measurement, a answer.Answer) bool {
	return a.Groups == nil && a.Cells == nil && int64(a.Len()) == m.Cells
}

// isSparse reports whether there are counts of cells of the measurement, ascending.
func isSparse(m plan.Measurement, a answer.Answer) bool {
	return a.Groups == nil && a.Ascending(uint64(m.Cells))
}

// isScored reports whether there are counts of cells of the measurement, ascending, none of them negative.
func isScored(m plan.Measurement, a answer.Answer) bool { return isSparse(m, a) && a.Least(0) }

// isRanked reports whether there are counts of pairs of a cell and a place, ascending, none of them negative.
func isRanked(_ plan.Measurement, a answer.Answer) bool {
	return a.Groups == nil && a.Ascending(math.MaxUint64) && a.Least(0)
}

// isGrouped reports whether there are positive counts of units of groups.
func isGrouped(_ plan.Measurement, a answer.Answer) bool {
	return a.Groups != nil && a.Ascending(math.MaxUint64) && a.Least(1)
}
