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

// This file lists how the core handles each kind of what is counted and each kind of selection.

// publication is how answers are published: the form that exact answers must have, because what is drawn and how many
// figures are released rely on it, and how the answers get their noise.
type publication struct {
	isWellFormed func(m plan.Measurement, a answer.Answer) bool
	answer       func(x *opened, ctx context.Context, a exactAnswer) (measured.Measured, error)
}

// publications lists how answers are published, by what is counted and by selection. Pairs that are not legal
// ([plan.Measurement.Check]) have none.
var publications = [counted.Kinds][selection.Kinds]publication{
	counted.KindRows: {
		selection.KindAll:    {isDense, (*opened).noisyAnswer},
		selection.KindAbove:  {isSparse, (*opened).sparseAnswer},
		selection.KindTop:    {isScored, (*opened).topCells},
		selection.KindGroups: {isGrouped, (*opened).selectedGroups},
	},
	counted.KindValues: {
		selection.KindAll:   {isDense, (*opened).noisyAnswer},
		selection.KindAbove: {isSparse, (*opened).sparseAnswer},
		selection.KindTop:   {isScored, (*opened).topCells},
	},
	counted.KindQuantiles:  {selection.KindAll: {isRanked, (*opened).drawQuantiles}},
	counted.KindBins:       {selection.KindAll: {isDense, (*opened).noisyAnswer}},
	counted.KindDistinct:   {selection.KindAll: {isDense, (*opened).noisyAnswer}},
	counted.KindDiagnostic: {selection.KindAll: {isDense, (*opened).noisyAnswer}},
}

// publicationOf returns how the answers to a measurement are published. It has no functions if the pair is not legal.
func publicationOf(m plan.Measurement) publication {
	return publications[m.Query.Counted.Kind()][m.Selection.Kind()]
}

// isDense reports whether an answer has a count for every cell.
func isDense(m plan.Measurement, a answer.Answer) bool {
	return a.Groups == nil && a.Cells == nil && int64(a.Len()) == m.Cells
}

// isSparse reports whether an answer has counts of ascending cells of the measurement.
func isSparse(m plan.Measurement, a answer.Answer) bool {
	return a.Groups == nil && a.Ascending(uint64(m.Cells))
}

// isScored reports whether an answer is sparse without negative counts.
func isScored(m plan.Measurement, a answer.Answer) bool { return isSparse(m, a) && a.AllAtLeast(0) }

// isRanked reports whether an answer has counts of ascending pairs of a cell and a lattice index, none of them
// negative.
func isRanked(_ plan.Measurement, a answer.Answer) bool {
	return a.Groups == nil && a.Ascending(math.MaxUint64) && a.AllAtLeast(0)
}

// isGrouped reports whether an answer has positive numbers of units of groups.
func isGrouped(_ plan.Measurement, a answer.Answer) bool {
	return a.Groups != nil && a.Ascending(math.MaxUint64) && a.AllAtLeast(1)
}
