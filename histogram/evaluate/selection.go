package evaluate

import (
	"slices"

	"github.com/dprelease/dprelease/histogram/internal/answer"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/selection"
	"github.com/dprelease/dprelease/spec/domain"
)

// This file holds the comparison of tables by which of their cells they publish.

// shownTable is a table whose count is compared.
type shownTable struct {
	plan.Table
	levels []*domain.Level
	up     []bool  // by key, whether counts are added up along it; nil for none
	unit   float64 // unit of the count
}

// shownCells is the truth that is needed for a table that publishes some or all of its cells, and how its figures are
// compared with it.
type shownCells struct {
	asks    func(t plan.Table) selection.Selection
	against func(t shownTable, f Figures, truth answer.Answer) (Difference, error)
}

// shownBy lists this by the selection of a table. Groups whose categories are not listed are not compared.
var shownBy = [selection.Kinds]shownCells{
	selection.KindAll:    {asksAll, shownTable.againstAll},
	selection.KindAbove:  {asksAbove, shownTable.againstAbove},
	selection.KindTop:    {asksTop, shownTable.againstTop},
	selection.KindGroups: {asksAll, shownTable.againstAll},
	selection.KindTexts:  {asksAll, shownTable.againstAll},
}

func asksAll(plan.Table) selection.Selection { return selection.All{} }

func asksAbove(t plan.Table) selection.Selection { return selection.Above{Threshold: t.Sparse.Above} }

func asksTop(t plan.Table) selection.Selection { return selection.Top{Of: t.Top.Of} }

func (t shownTable) againstAll(f Figures, truth answer.Answer) (Difference, error) {
	shown := slices.Clone(truth.Counts)
	for key, up := range t.up {
		if up {
			countUp(shown, t.levels, key)
		}
	}
	d, err := f.compareDense(shown, t.unit)
	d.Rows = total(truth.Counts)
	return d, err
}

func (t shownTable) againstAbove(f Figures, truth answer.Answer) (Difference, error) {
	return f.compareSparse(truth)
}

func (t shownTable) againstTop(f Figures, truth answer.Answer) (Difference, error) {
	return f.compareTop(truth, t.unit)
}

// countUp adds to each count, row-major over the levels, the counts of all earlier categories of one key.
func countUp(counts []int64, levels []*domain.Level, key int) {
	stride := 1
	for _, l := range levels[key+1:] {
		stride *= l.Size()
	}
	for i := range counts {
		if i/stride%levels[key].Size() > 0 {
			counts[i] += counts[i-stride]
		}
	}
}
