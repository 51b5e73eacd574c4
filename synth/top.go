package synth

import (
	"fmt"

	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/plan/selection"
)

// This file holds tables of chosen cells: which cells they are.

// setChosen gives a table a row for each cell that was chosen, in the order of the choice. It returns an error if there
// are not as many as the plan chooses.
func (t *Table) setChosen(m measured.Measured) error {
	c, ok := m.Measurement.Selection.(selection.Top)
	if !ok || int64(len(m.Cells)) != c.Of || m.Values.Len() != len(m.Cells) {
		return fmt.Errorf("measurement %s has not as many cells as are chosen", m.Measurement.ID)
	}
	t.Cells, t.CellIndices = len(m.Cells), m.Cells
	return nil
}
