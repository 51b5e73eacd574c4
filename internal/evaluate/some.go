package evaluate

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/dprelease/dprelease/histogram/evaluate"
	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/internal/verdict"
	"github.com/dprelease/dprelease/plan/selection"
	"github.com/dprelease/dprelease/spec/domain"
	"github.com/parquet-go/parquet-go"
)

// This file holds how the counts of tables that have some of their cells are read, and how good the choice of the cells
// was.

// someCounts reads the counts of a table that has some of its cells, with their intervals, and the places of their
// cells in domain order. columns are those of its keys, and of its figures. The rows of a sparse table are in domain
// order themselves, those of chosen cells in the order of their choice.
func someCounts(t published.Table, columns []string) (evaluate.Figures, error) {
	f := evaluate.Figures{Cells: []uint64{}}
	keys, codes := len(t.Planned.By), placesOfCodes(t.Levels)
	err := t.EachRow(t.Planned.File(), columns, func(r parquet.Row) error {
		cell, known := uint64(0), true
		for i := range keys {
			at, ok := codes[i][r[i].String()]
			cell, known = cell*uint64(t.Levels[i].Size())+uint64(at), known && ok
		}
		refusal := ""
		switch last := len(f.Cells) - 1; {
		case t.Planned.Sparse != nil && (!known || last >= 0 && f.Cells[last] >= cell):
			refusal = "row %d is not that of its place in the domain"
		case t.Planned.Sparse == nil && (!known || slices.Contains(f.Cells, cell)):
			refusal = "row %d is of no cell of the table, or of one that is there before"
		}
		if refusal != "" {
			return &verdict.Unusable{File: filepath.Join(t.Place, t.Planned.File()), Err: fmt.Errorf(refusal, len(f.Cells)+1)}
		}
		f.Cells = append(f.Cells, cell)
		addFigures(&f, r[keys:])
		return nil
	})
	return f, err
}

// addFigures adds the count of a row, its estimate and its interval.
func addFigures(f *evaluate.Figures, r parquet.Row) {
	f.Published = append(f.Published, r[0].Int64())
	for i, column := range []*[]float64{&f.Unbiased, &f.Low, &f.High} {
		*column = append(*column, published.Number(r[1+i]))
	}
}

// placesOfCodes are the places of each level's categories by their codes.
func placesOfCodes(levels []*domain.Level) []map[string]uint32 {
	codes := make([]map[string]uint32, len(levels))
	for i, l := range levels {
		codes[i] = make(map[string]uint32, l.Size())
		for at, c := range l.Categories {
			codes[i][c.Code] = uint32(at)
		}
	}
	return codes
}

// TopTruth is how good the choice of a table's cells was, by the counts that they have in truth.
type TopTruth struct {
	Of    int64 `json:"of"`
	Right int64 `json:"among_the_largest"` // of those that were chosen
	// by how much a cell that was left out exceeds one that was chosen, at most
	Shortfall float64 `json:"shortfall"`
	Predicted float64 `json:"shortfall_predicted"`
}

func newTopTruth(t *selection.TopFacts, d evaluate.Difference) *TopTruth {
	return &TopTruth{t.Of, d.Right, d.Shortfall, t.Shortfall}
}
