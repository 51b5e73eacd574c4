package trace

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/internal/screen"
	"github.com/dprelease/dprelease/internal/verdict"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/describe"
	"github.com/dprelease/dprelease/plan/selection"
	"github.com/dprelease/dprelease/synth"
)

// This file holds the trace of a cell of a table that has some of its cells: how the cell came to be in it, and the one
// noisy integer that its count is; or why it is not in it, and what that says.

// Choice is how a cell came into a table of chosen cells, or a group into one of those that nobody listed.
type Choice struct {
	// Place is which of the choices found the cell, from 1 on; 0 where a selection let a group through, which has no
	// order.
	Place int64 `json:"place,omitempty"`
	Of    int64 `json:"of"` // how many cells are in the table
	// Select made each choice or selected each group, Times as often as it is charged. None where the noisy number itself
	// decides.
	Select *budget.Mechanism `json:"select,omitempty"`
	Times  int64             `json:"times,omitempty"`
	Says   string            `json:"says"` // what the choice or the selection promises
}

// Missing is why a cell has no figure that a table could have had.
type Missing struct {
	Why  string `json:"why"`  // not chosen, or not selected
	Says string `json:"says"` // what that tells of the cell
}

const (
	NotChosen   = "not chosen"
	NotSelected = "not selected"
)

// someCell is the trace of a cell of a table of chosen cells, or of groups that nobody listed.
func (t *Trace) someCell(e *published.Release, reader *synth.Reader, table int, codes []string,
	answers []measured.Measured) error {
	planned, answer := e.Plan.Tables[table], answers[0]
	find := t.chosenAt
	if planned.Discovered != nil {
		find = t.selectedAt
	}
	at, err := find(e, planned, answer, codes)
	if err != nil {
		return &verdict.Unusable{File: t.Folder, Err: err}
	}
	if at < 0 {
		return nil
	}
	err = t.oneAnswer(e, reader, table, at, answers)
	if len(t.Bearings) > 0 {
		t.Bearings[0].Integers = int64(answer.Values.Len()) // of all that it could have had
	}
	return err
}

// chosenAt is the row of a cell of a table of chosen cells, −1 where it was not chosen.
func (t *Trace) chosenAt(e *published.Release, planned plan.Table, answer measured.Measured, codes []string) (int,
	error) {
	levels, err := answer.Measurement.Query.Levels(e.Plan.Release())
	if err != nil {
		return 0, err
	}
	cell := uint64(0)
	for i, l := range levels {
		category, err := t.key(planned.By[i], l, codes[i])
		if err != nil {
			return 0, err
		}
		cell = cell*uint64(l.Size()) + uint64(category)
	}
	says := describe.Top(planned.Top, planned.Cells)
	at := slices.Index(answer.Cells, cell)
	if at < 0 {
		t.Missing = &Missing{NotChosen, says + " The cell has no figure, and need not be empty."}
		return at, nil
	}
	t.Choice = &Choice{Place: int64(at) + 1, Of: planned.Top.Of, Says: says}
	if top, ok := answer.Measurement.Selection.(selection.Top); ok {
		t.Choice.Select, t.Choice.Times = &top.Select, top.Of
	}
	return at, nil
}

// selectedAt is the row of a group of a table of groups that nobody listed, −1 where it was not selected.
func (t *Trace) selectedAt(e *published.Release, planned plan.Table, answer measured.Measured, codes []string) (int,
	error) {
	keys, _, err := synth.Groups(e.Plan.Release(), planned, answer)
	if err != nil {
		return 0, err
	}
	declared := e.Plan.Release().Table(planned.From)
	for i, k := range keys {
		if _, err := t.key(planned.By[i], k.Level, codes[i]); err == nil {
			continue
		} else if declared.Column(k.Attribute.Column).Domain.Discover() == nil {
			return 0, err
		}
		t.Cell = append(t.Cell, KeyOf{Attribute: planned.By[i], Code: codes[i]}) // of a group that nobody listed
	}
	says := describe.Discovered(planned.Discovered)
	at := slices.IndexFunc(answer.Keys, func(group []string) bool { return slices.Equal(group, codes) })
	if at < 0 {
		t.Missing = &Missing{NotSelected, says}
		return at, nil
	}
	t.Choice = &Choice{Of: int64(len(answer.Keys)), Says: says}
	if d, ok := answer.Measurement.Selection.(selection.Groups); ok {
		t.Choice.Select, t.Choice.Times = &d.Select, int64(len(d.Steps()))
	}
	return at, nil
}

// text says how the cell came into the table.
func (c *Choice) text() string {
	text := fmt.Sprintf("Selected, as one of %s.", budget.Plural(c.Of, "group"))
	if c.Place > 0 {
		text = fmt.Sprintf("Chosen as number %s of %s.", budget.Group(c.Place), budget.Group(c.Of))
	}
	if c.Select != nil {
		how := "by " + string(c.Select.Kind)
		if c.Select.Parameter != nil {
			parameter, _ := c.Select.Parameter.Float64()
			how += " with parameter " + budget.DecimalNearest(parameter, 4)
		}
		text = strings.TrimSuffix(text, ".") + ", " + how + fmt.Sprintf(", charged %s.", budget.Plural(c.Times, "time"))
	}
	return sentences(text + " " + c.Says)
}

// sentencesColumns is how wide sentences of a trace are set.
const sentencesColumns = 100

// sentences sets a text in lines.
func sentences(text string) string {
	return strings.Join(screen.Wrap(text, sentencesColumns), "\n") + "\n"
}

// text says why the cell has no figure.
func (m *Missing) text() string { return m.Why + "\n\n" + sentences(m.Says) }
