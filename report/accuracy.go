package report

// This file holds the headline: how close the published numbers are.

import (
	"fmt"

	"github.com/dprelease/dprelease/budget"
)

// Accuracy sums up all tables: at least Confidence of the published numbers lie
// within Margin of the exact figure, on average over the noise.
type Accuracy struct {
	Numbers    int64   `json:"numbers"`    // published, in all tables
	Confidence float64 `json:"confidence"` // the least of all statistics
	Margin     int64   `json:"margin"`     // the largest of all statistics
	OneMargin  bool    `json:"one_margin"` // true where every statistic has it
	Sentence   string  `json:"sentence"`
}

func accuracyOf(tables []Table) Accuracy {
	a := Accuracy{Confidence: 1, OneMargin: true}
	first := true
	for _, t := range tables {
		for _, s := range t.Statistics {
			a.Numbers += t.Cells
			a.Confidence = min(a.Confidence, s.Confidence)
			a.OneMargin = a.OneMargin && (first || s.Margin == a.Margin)
			a.Margin = max(a.Margin, s.Margin)
			first = false
		}
	}
	a.Sentence = a.sentence()
	return a
}

// sentence is the headline. Noise is drawn per number, so the part of numbers
// that are covered is an average, not a certainty.
func (a Accuracy) sentence() string {
	within := "lie within ±" + budget.Group(a.Margin) + " of the exact count"
	if a.Margin == 0 {
		within = "equal the exact count"
	}
	s := fmt.Sprintf("Of the %s published numbers, on average at least %s %s, before sampling and response error", budget.Group(a.Numbers), level(a.Confidence), within)
	if !a.OneMargin {
		s += "; some tables are more exact than that, and the list of tables gives the margin of each"
	}
	return s + "."
}
