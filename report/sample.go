package report

import "github.com/dprelease/dprelease/report/internal/words"

// This file holds the words of a report that differ when a sample of the units is measured.

// Chance returns in words the probability with which an interval contains the exact count.
func (r *Report) Chance() string {
	return r.Bounded("at least") + " " + words.Level(r.Accuracy.Confidence)
}

// Bounded returns the words that bound a probability: the given ones, or "about" if the error of a sample is
// approximate.
func (r *Report) Bounded(exactly string) string {
	return words.Either(r.Guarantee.Sample != "", "about", exactly)
}
