package report

import (
	"fmt"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/describe"
)

// Top says of a table that it has a row for each cell that was chosen, in the order of the choice, and for no other.
type Top struct {
	Of       int64 `json:"of"`
	Declared int64 `json:"declared_cells"` // among which they were chosen
	// Select made each choice. A unit moves the count of a cell by at most Sensitivity and, where Monotone, of all in one direction.
	Select      Mechanism `json:"select"`
	Sensitivity int64     `json:"sensitivity"`
	Monotone    bool      `json:"monotone"`
	Choosing    string    `json:"choosing"`  // the part of the table's budget that choosing took
	Shortfall   float64   `json:"shortfall"` // a cell that is not in the table has no more than one that is by over so much
	Attained    float64   `json:"attained"`  // with this probability or more
}

// topOf tells of a table of chosen cells, nil of another.
func topOf(p *plan.Plan, t plan.Table) *Top {
	m, ok := p.Measurement(t.Path)
	if t.Top == nil || !ok || m.Top == nil {
		return nil
	}
	return &Top{Of: t.Top.Of, Declared: t.Cells, Select: mechanismOf(m.Top.Select), Sensitivity: m.Top.Sensitivity, Monotone: m.Top.Monotone,
		Choosing: t.Top.Choosing, Shortfall: t.Top.Shortfall, Attained: t.Top.Attained}
}

// stepsOf are the mechanisms of a measurement: its choices, where it makes any, and its noise.
func stepsOf(m plan.Measurement) []budget.Mechanism {
	steps := []budget.Mechanism{m.Mechanism}
	if m.Top != nil {
		steps = append(steps, m.Top.Steps()...)
	}
	return steps
}

// chosenCells heads the notes on tables of chosen cells.
const chosenCells = "Cells that were chosen"

// topNotes say which cells are in a table, and what its figures are good for.
func (r *Report) topNotes(p *plan.Plan) []Note {
	var notes []Note
	for i, t := range r.Tables {
		if t.Top == nil {
			continue
		}
		notes = append(notes, Note{chosenCells, fmt.Sprintf("Table %s: %s Each choice is random, and the likelier the larger the count: the true top %s may differ. Rows stand in the order of their choice, which by itself tells the order of the counts no better than their intervals do. The counts were drawn after the choice, with noise of their own: they are right on the mean and their intervals hold, whichever cells were chosen. A cell that is not in the table may well have rows. Do not add the rows up to a total: what was not chosen is missing.",
			t.Path, describe.Top(p.Tables[i].Top, t.Top.Declared), budget.Group(t.Top.Of))})
	}
	return notes
}

// choiceNoise is the choices of a measurement in the list of mechanisms.
func choiceNoise(m plan.Measurement) Noise {
	return Noise{Mechanism: mechanismOf(m.Top.Select), Shifts: [][]int64{}, Measurements: []string{
		fmt.Sprintf("%s, each of its %s", m.ID, budget.Plural(m.Top.Of, "choice")),
	}}
}
