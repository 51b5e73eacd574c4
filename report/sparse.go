package report

import (
	"fmt"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/describe"
)

// Sparse says of a table that it has a row for each cell whose noisy count is above a public threshold, and for no other.
type Sparse struct {
	Above      int64    `json:"above"`
	Declared   int64    `json:"declared_cells"`             // that got noise, and those that are impossible
	Impossible int64    `json:"impossible_cells,omitempty"` // of them: they are never in the table
	FalseCells float64  `json:"false_cells"`                // cells without a row that are expected in the table, at most
	Bound      int64    `json:"bound"`                      // a cell of more rows is in the table with the statistic's confidence
	Missed     []Missed `json:"missed"`
}

// Missed is with what chance a cell of so many rows is not in the table.
type Missed struct {
	Rows   int64   `json:"rows"`
	Chance float64 `json:"chance"`
}

// sparseOf tells of a table that is sparse, nil of another.
func sparseOf(t plan.Table) *Sparse {
	if t.Sparse == nil {
		return nil
	}
	s := &Sparse{Above: t.Sparse.Above, Declared: t.Cells, Impossible: t.Impossible, FalseCells: t.Sparse.FalseCells, Bound: t.Sparse.Bound}
	for _, m := range t.Sparse.Missed {
		s.Missed = append(s.Missed, Missed(m))
	}
	return s
}

// aboveThreshold heads the notes on sparse tables.
const aboveThreshold = "Cells above a threshold"

// sparseNotes say what a row of a sparse table means, and what it means that a cell has none.
func (r *Report) sparseNotes(p *plan.Plan, s string) []Note {
	var notes []Note
	for i, t := range r.Tables {
		if t.Sparse == nil {
			continue
		}
		planned := p.Tables[i]
		notes = append(notes, Note{aboveThreshold, fmt.Sprintf("Table %s: %s %s A cell that is not in the table is not an empty one: its noisy count was not above %s. A cell of more than %s would be in the table with a chance of at least %s. "+
			"The margins hold over all cells, in the table or not; among those in the table, figures little above %s are too large on the mean, %s_unbiased as well, and a cell without a row that is in it by its noise alone can have an interval that leaves out 0. Do not add the rows up: what is left out is missing.",
			t.Path, describe.Sparse(planned.Sparse, planned.Cells-planned.Impossible), describe.MissedText(planned.Sparse), budget.Group(t.Sparse.Above),
			budget.Plural(t.Sparse.Bound, "row"), level(t.Statistics[0].Confidence), budget.Group(t.Sparse.Above), s)})
	}
	return notes
}

// Sparse is the notes on sparse tables, on tables of chosen cells and on those of groups that nobody listed.
func (r *Report) Sparse() []Note {
	var notes []Note
	for _, n := range r.Reading {
		if n.Heading == aboveThreshold || n.Heading == chosenCells || n.Heading == nobodyListed {
			notes = append(notes, n)
		}
	}
	return notes
}
