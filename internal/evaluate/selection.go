package evaluate

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/dprelease/dprelease/histogram/evaluate"
	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/internal/verdict"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/selection"
	"github.com/parquet-go/parquet-go"
)

// This file lists how tables are compared with the truth, by the selection of their cells.

// comparisons lists, by selection, whether tables are compared, how their counts are read, how many of their published
// cells are impossible, and what is reported in addition to their errors.
var comparisons = [selection.Kinds]struct {
	compared   bool
	counts     func(t published.Table, columns []string) (evaluate.Figures, error)
	impossible func(t plan.Table) int64
	add        func(one *tableTruth, t plan.Table, d evaluate.Difference)
}{
	selection.KindAll:    {true, allCounts, impossibleCells, addParts},
	selection.KindAbove:  {true, sparseCounts, noImpossible, addSparse},
	selection.KindTop:    {true, topCounts, noImpossible, addTop},
	selection.KindGroups: {false, noCounts, noImpossible, addParts},
	selection.KindTexts:  {false, noCounts, noImpossible, addParts},
}

func impossibleCells(t plan.Table) int64 { return t.Impossible }

func noImpossible(plan.Table) int64 { return 0 }

// noCounts refuses a table of unlisted groups: the truth would be a list of all groups.
func noCounts(published.Table, []string) (evaluate.Figures, error) {
	return evaluate.Figures{}, errors.New("groups that nobody listed are not compared with the truth")
}

// someCounts reads the counts of a table that has some of its cells, with their intervals, and the indices of the
// cells in domain order. The columns are those of its keys, then of its figures. It refuses a row that belongs to no
// cell, or whose cell must not follow those before it.
func someCounts(t published.Table, columns []string, mayFollow func(before []uint64, cell uint64) bool,
	refusal string) (evaluate.Figures, error) {
	f := evaluate.Figures{Cells: []uint64{}}
	keys, codes := len(t.Planned.By), placesOfCodes(t.Levels)
	err := t.EachRow(t.Planned.File(), columns, func(r parquet.Row) error {
		cell, known := uint64(0), true
		for i := range keys {
			at, ok := codes[i][r[i].String()]
			cell, known = cell*uint64(t.Levels[i].Size())+uint64(at), known && ok
		}
		if !known || !mayFollow(f.Cells, cell) {
			return &verdict.Unusable{File: filepath.Join(t.NamedPath, t.Planned.File()),
				Err: fmt.Errorf("row %d is %s", len(f.Cells)+1, refusal)}
		}
		f.Cells = append(f.Cells, cell)
		addFigures(&f, r[keys:])
		return nil
	})
	return f, err
}
