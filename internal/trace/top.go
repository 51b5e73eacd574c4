package trace

import (
	"slices"

	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/internal/verdict"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/describe"
	"github.com/dprelease/dprelease/plan/selection"
	"github.com/dprelease/dprelease/spec/language"
	"github.com/dprelease/dprelease/synth"
)

// This file holds the trace of a cell of a table of chosen cells.

// NotChosen is why a cell that was not chosen has no figure.
const NotChosen = "not chosen"

// topCell traces a cell of a table of chosen cells.
func (t *Trace) topCell(e *published.Release, reader *synth.Reader, table int, codes []string,
	answers []measured.Measured) error {
	at, err := t.chosenAt(e, e.Plan.Tables[table], answers[0], codes)
	if err != nil {
		return &verdict.Unusable{File: t.Folder, Err: err}
	}
	return t.someCell(e, reader, table, at, answers)
}

// chosenAt returns the row of a cell in a table of chosen cells, −1 if the cell was not chosen.
func (t *Trace) chosenAt(e *published.Release, planned plan.Table, answer measured.Measured, codes []string) (int,
	error) {
	levels, err := answer.Measurement.Query.Levels(e.Plan.Release())
	if err != nil {
		return 0, err
	}
	cell := uint64(0)
	for i, l := range levels {
		category, err := t.addKey(e, planned, i, l, codes[i])
		if err != nil {
			return 0, err
		}
		cell = cell*uint64(l.Size()) + uint64(category)
	}
	says := describe.Top(language.English, planned.Top, planned.Cells)
	at := slices.Index(answer.Cells, cell)
	if at < 0 {
		t.Missing = &Missing{NotChosen, says + " The cell has no figure, and need not be empty."}
		return at, nil
	}
	t.Choice = &Choice{Rank: int64(at) + 1, Of: planned.Top.Of, Says: says}
	if top, ok := answer.Measurement.Selection.(selection.Top); ok {
		t.Choice.Select, t.Choice.Times = &top.Select, top.Of
	}
	return at, nil
}
