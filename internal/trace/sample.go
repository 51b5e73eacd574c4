package trace

import (
	"fmt"

	"github.com/dprelease/dprelease/internal/interval"
	"github.com/dprelease/dprelease/plan"
)

// This file holds what a trace says about a release that measures a sample of its units.

// sampleText says what a noisy integer of a secret sample stands for.
func (t *Trace) sampleText() string {
	if t.Sample == "" {
		return ""
	}
	return wrapSentences(fmt.Sprintf(
		"Measured was a secret sample: each unit was drawn with a probability of %s, so counts of it are divided by "+
			"that. Weights here have that in them.", t.Sample)) + "\n"
}

// setIntervalLaw records the law of the cell's interval, and the confidence level that it attains. The interval of a
// sample is Wilson's, whose level is approximate.
func (t *Trace) setIntervalLaw(s plan.Sample, of *interval.Interval) {
	if t.Law, t.Attained = of.Law, of.Attained; s.Partial() {
		t.Law, t.Attained = interval.Score, t.Confidence
	}
}
