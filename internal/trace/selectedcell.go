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

// This file holds the trace of a cell of a table with selected cells: how the cell came to be in it, and the one noisy
// integer that is its count; or why it is not in it, and what that reveals.

// Choice is how a cell came into a table of chosen cells, or a group into a table of discovered groups.
type Choice struct {
	// Rank is the number of the choice that found the cell, from 1 on; 0 for a selected group, which has no order.
	Rank int64 `json:"place,omitempty"`
	Of   int64 `json:"of"` // number of cells in the table
	// Select is the mechanism that made each choice or selected each group, and Times is how often it is charged.
	// Select is nil if the noisy number itself decides.
	Select *budget.Mechanism `json:"select,omitempty"`
	Times  int64             `json:"times,omitempty"`
	Says   string            `json:"says"` // guarantee of the choice or the selection
}

// Missing is why a cell that the table could have had has no figure.
type Missing struct {
	Why  string `json:"why"`  // not chosen, or not selected
	Says string `json:"says"` // what that reveals about the cell
}

// someCell traces the cell at a row of a table of chosen cells, or of discovered groups; −1 stands for a cell that is
// not in the table.
func (t *Trace) someCell(e *published.Release, reader *synth.Reader, table, at int, answers []measured.Measured) error {
	if at < 0 {
		return nil
	}
	err := t.oneAnswer(e, reader, table, at, answers)
	if len(t.Contributions) > 0 {
		t.Contributions[0].Integers = int64(answers[0].Values.Len()) // including those that are not published
	}
	return err
}

// text says how the cell came into the table.
func (c *Choice) text() string {
	text := fmt.Sprintf("Selected, as one of %s.", budget.Plural(c.Of, "group"))
	if c.Rank > 0 {
		text = fmt.Sprintf("Chosen as number %s of %s.", budget.Group(c.Rank), budget.Group(c.Of))
	}
	if c.Select != nil {
		how := "by " + string(c.Select.Kind)
		if c.Select.Parameter != nil {
			parameter, _ := c.Select.Parameter.Float64()
			how += " with parameter " + budget.DecimalNearest(parameter, 4)
		}
		text = strings.TrimSuffix(text, ".") + ", " + how + fmt.Sprintf(", charged %s.", budget.Plural(c.Times, "time"))
	}
	return wrapSentences(text + " " + c.Says)
}

// sentencesColumns is the width of sentences of a trace.
const sentencesColumns = 100

// wrapSentences breaks a text into lines.
func wrapSentences(text string) string {
	return strings.Join(screen.Wrap(text, sentencesColumns), "\n") + "\n"
}

// text says why the cell has no figure.
func (m *Missing) text() string { return m.Why + "\n\n" + wrapSentences(m.Says) }
