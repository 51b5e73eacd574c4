package evaluate

import (
	"github.com/dprelease/dprelease/histogram/evaluate"
	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/plan"
)

// This file compares tables of the cells above a threshold with the truth.

// SparseTruth counts the cells that a sparse table has and misses.
type SparseTruth struct {
	Above     int64   `json:"above"`
	Published int64   `json:"published"` // cells
	False     int64   `json:"false"`     // published cells without a row
	Predicted float64 `json:"false_predicted"`
	Filled    int64   `json:"filled"` // cells with rows
	Missed    int64   `json:"missed"` // filled cells that are not published
}

func addSparse(one *tableTruth, t plan.Table, d evaluate.Difference) {
	addParts(one, t, d)
	one.Sparse = &SparseTruth{t.Sparse.Above, d.Cells, d.False, t.Sparse.FalseCells, d.Filled, d.Missed}
}

// sparseCounts reads the counts of a sparse table, whose rows are in domain order.
func sparseCounts(t published.Table, columns []string) (evaluate.Figures, error) {
	ascending := func(before []uint64, cell uint64) bool {
		return len(before) == 0 || before[len(before)-1] < cell
	}
	return someCounts(t, columns, ascending, "not the row that belongs in its place in the domain")
}
