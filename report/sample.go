package report

import (
	"github.com/dprelease/dprelease/report/internal/words"
	"github.com/dprelease/dprelease/spec/language"
)

// This file holds the words of a report that differ when a sample of the units is measured, or devices answered in
// bands.

// Chance returns in words the probability with which an interval contains the exact count.
func (r *Report) Chance() string {
	return r.Bounded("at least") + " " + r.In().Number(words.Level(r.Accuracy.Confidence))
}

// Bounded returns the words that bound a probability: "at least" or "at most", as given in English, or "about" if
// errors are approximate.
func (r *Report) Bounded(exactly string) string {
	l := r.In()
	return words.Either(r.IsApproximate(), l.Text("about"), l.Text(exactly))
}

// IsApproximate reports whether probabilities are approximate, as those of a sample are, and of answers in bands.
func (r *Report) IsApproximate() bool {
	return r.Guarantee.Sample != "" || r.Collection != nil && r.Collection.Bands != ""
}

var _ = []string{language.Key("at least"), language.Key("at most")}
