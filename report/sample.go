package report

import "github.com/dprelease/dprelease/report/internal/words"

// This file holds what changes in the facts of a report where a sample of the units is measured.

// Chance is that of an interval to hold the exact count, in words.
func (r *Report) Chance() string {
	return r.Bounded("at least") + " " + words.Level(r.Accuracy.Confidence)
}

// Bounded says by which words a chance is bounded: by these, or "about" where the error of a sample is approximate.
func (r *Report) Bounded(exactly string) string {
	return words.Either(r.Guarantee.Sample != "", "about", exactly)
}
