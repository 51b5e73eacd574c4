package trace

import (
	"fmt"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/internal/screen"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/synth"
)

// This file holds what a trace says about counts that are public figures.

// fittedIn returns how the published count was made to add up with other tables, "" if it is the rounded estimate or a
// public figure.
func (t *Trace) fittedIn(p *compiled.Compiled) string {
	if t.Invariant != "" {
		return ""
	}
	together, _ := p.Integers(t.Table)
	return together.Way
}

// differenceIn returns the difference between the estimate of a row and the sum of its noisy integers or, for a public
// figure, that figure.
func (t *Trace) differenceIn(figures synth.Statistic, row int) float64 {
	if t.Invariant != "" {
		return t.Unbiased - figures.Unbiased.Value(row)
	}
	return t.Unbiased - t.Sum
}

// publicText says that the figure was public before, "" if it has noise.
func (t *Trace) publicText() string {
	if t.Invariant == "" {
		return ""
	}
	return fmt.Sprintf(
		"%s\nIt is a figure that was public before, of invariant %s, or a sum of such figures: it is made of no "+
			"measurement, and has no noise. Nothing says that the data have the same figure.\n%s",
		screen.Aligned([][]string{{"published", budget.Group(t.Published)}}, 2), t.Invariant, t.figuresText())
}

// countName names the count on which other figures depend, which is not the published one if that is a public figure.
func (t *Trace) countName() string {
	if t.Invariant != "" {
		return "the count as it was measured"
	}
	return "the count"
}
