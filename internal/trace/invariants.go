package trace

import (
	"fmt"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/internal/screen"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/synth"
)

// This file holds what a trace says of counts that are public figures.

// fittedIn is how the published count was made to add up with other tables, "" where it is the estimate, rounded, or a
// public figure.
func (t *Trace) fittedIn(p *compiled.Compiled) string {
	if t.Invariant != "" {
		return ""
	}
	together, _ := p.Integers(t.Table)
	return together.Way
}

// differs is by how much the estimate of a row differs from what it is made of: the noisy integers or, where it is a
// public figure, that.
func (t *Trace) differs(figures synth.Statistic, row int) float64 {
	if t.Invariant != "" {
		return t.Unbiased - figures.Unbiased.Value(row)
	}
	return t.Unbiased - t.Sum
}

// publicText says that the figure was public before, "" where it has noise.
func (t *Trace) publicText() string {
	if t.Invariant == "" {
		return ""
	}
	return fmt.Sprintf(
		"%s\nIt is a figure that was public before, of invariant %s, or a sum of such figures: it is made of no measurement, and has no noise. Nothing says that the data have the same figure.\n%s", screen.Aligned([][]string{{"published", budget.Group(t.Published)}}, 2), t.Invariant, t.figuresText())
}

// countName names the count that figures beside it are worked out from: not the one that is published, where that is a
// public figure.
func (t *Trace) countName() string {
	if t.Invariant != "" {
		return "the count as it was measured"
	}
	return "the count"
}
