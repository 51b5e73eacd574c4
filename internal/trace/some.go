package trace

import (
	"fmt"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/internal/screen"
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

// someCell is the trace of a cell at a row of a table of chosen cells, or of groups that nobody listed; −1 where it
// is not in the table.
func (t *Trace) someCell(e *published.Release, reader *synth.Reader, table, at int, answers []measured.Measured) error {
	if at < 0 {
		return nil
	}
	err := t.oneAnswer(e, reader, table, at, answers)
	if len(t.Bearings) > 0 {
		t.Bearings[0].Integers = int64(answers[0].Values.Len()) // of all that it could have had
	}
	return err
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
