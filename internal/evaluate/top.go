package evaluate

import (
	"slices"

	"github.com/dprelease/dprelease/histogram/evaluate"
	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/plan"
)

// This file compares tables of chosen cells with the truth.

// TopTruth is the quality of the choice of a table's cells, judged by their true counts.
type TopTruth struct {
	Of    int64 `json:"of"`
	Right int64 `json:"among_the_largest"` // chosen cells among the largest
	// the greatest excess of a cell that was not chosen over a chosen one
	Shortfall float64 `json:"shortfall"`
	Predicted float64 `json:"shortfall_predicted"`
}

func addTop(one *tableTruth, t plan.Table, d evaluate.Difference) {
	one.Top = &TopTruth{t.Top.Of, d.Right, d.Shortfall, t.Top.Shortfall}
}

// topCounts reads the counts of a table of chosen cells, whose rows are in the order of their choice.
func topCounts(t published.Table, columns []string) (evaluate.Figures, error) {
	each := func(before []uint64, cell uint64) bool { return !slices.Contains(before, cell) }
	return someCounts(t, columns, each, "of no cell of the table, or of one that is there before")
}
