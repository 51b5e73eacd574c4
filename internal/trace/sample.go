package trace

import (
	"fmt"

	"github.com/dprelease/dprelease/internal/interval"
	"github.com/dprelease/dprelease/plan"
)

// This file holds what a trace says of a release that measures a sample of its units.

// sampleText says what a noisy integer of a secret sample stands for.
func (t *Trace) sampleText() string {
	if t.Sample == "" {
		return ""
	}
	return sentences(fmt.Sprintf(
		"Measured was a secret sample: each unit was drawn with a probability of %s, so counts of it are divided by that. Weights here have that in them.", t.Sample)) + "\n"
}

// interval notes by which law the interval of the cell was made, and which level it attains. An interval of a sample is
// Wilson's, whose level is approximate.
func (t *Trace) interval(s plan.Sample, of *interval.Interval) {
	if t.Law, t.Attained = of.Law, of.Attained; s.Partial() {
		t.Law, t.Attained = interval.Score, t.Confidence
	}
}
