package evaluate

import (
	"fmt"

	"github.com/dprelease/dprelease/histogram/internal/answer"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/selection"
)

// This file holds the comparison of tables that show some of their cells.

// againstSome holds figures against the true counts of the cells that have rows.
type againstSome func(f Figures, truth answer.Answer) (Difference, error)

// someCells lists what is asked of the truth for a table that shows some of its cells, and how its figures are held
// against that; nothing for those that show all. Groups that nobody listed are not compared.
var someCells = [selection.Kinds]func(t plan.Table, m *plan.Measurement, unit float64) againstSome{
	selection.KindAbove: func(t plan.Table, m *plan.Measurement, _ float64) againstSome {
		m.Selection = selection.Above{Threshold: t.Sparse.Above}
		return Figures.againstSparse
	},
	selection.KindTop: func(t plan.Table, m *plan.Measurement, unit float64) againstSome {
		m.Selection = selection.Top{Of: t.Top.Of}
		return func(f Figures, truth answer.Answer) (Difference, error) { return f.againstTop(truth, unit) }
	},
}

// askSome asks for the cells that have rows, and compares a claim with them.
func (c *comparison) askSome(claim Claim, m plan.Measurement, against againstSome, out *Difference) error {
	c.questions = append(c.questions, question{measurement: m, compare: func(truth answer.Answer) error {
		figures, err := claim.Read()
		if err == nil {
			*out, err = against(figures, truth)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", m.ID, err)
		}
		return nil
	}})
	return nil
}
