package histogram

import (
	"context"
	"math"

	"github.com/dprelease/dprelease/histogram/internal/answer"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/selection"
)

// This file lists how the core publishes each kind of selection, and what is drawn in place of getting noise.

// publication is how answers are published: the form that exact answers must have, because what is drawn and how many
// figures are released rely on it, and how the answers get their noise.
type publication struct {
	isWellFormed func(m plan.Measurement, a answer.Answer) bool
	answer       func(x *opened, ctx context.Context, a exactAnswer) (measured.Measured, error)
}

// withNoise lists how answers that get noise are published, by selection. Whatever is counted, noise is added to
// integers.
var withNoise = [selection.Kinds]publication{
	selection.KindAll:    {isDense, (*opened).noisyAnswer},
	selection.KindAbove:  {isSparse, (*opened).sparseAnswer},
	selection.KindTop:    {isScored, (*opened).topCells},
	selection.KindGroups: {isGrouped, (*opened).selectedGroups},
	selection.KindTexts:  {}, // reports get no noise
}

// drawnAnswers is how answers are published that are drawn by a mechanism of their own.
var drawnAnswers = publication{isRanked, (*opened).drawQuantiles}

// publicationOf returns how the answers to a measurement are published. The measurement must be legal
// ([plan.Measurement.Check]).
func publicationOf(m plan.Measurement) publication {
	if m.Query.Counted.Kind().Traits().Drawn {
		return drawnAnswers
	}
	return withNoise[m.Selection.Kind()]
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
