package report

// This file holds the headline: how close the published numbers are.

import (
	"fmt"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
)

// Accuracy sums up all tables: at least Confidence of the published numbers lie
// within Margin of the exact figure, on average over the noise; about so many where
// tables were put together, whose intervals go by a normal law.
type Accuracy struct {
	Numbers    int64   `json:"numbers"`    // published, in all tables
	Confidence float64 `json:"confidence"` // the least of all statistics
	Margin     float64 `json:"margin"`     // the largest of all statistics
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
	a.Sentence = a.sentence(together(tables))
	return a
}

// together tells that some table was put together from several measurements.
func together(tables []Table) bool {
	for _, t := range tables {
		for _, s := range t.Statistics {
			if s.Mechanism == nil {
				return true
			}
		}
	}
	return false
}

// Chance is that of an interval to hold the exact count, in words.
func (r *Report) Chance() string {
	if together(r.Tables) {
		return "about " + level(r.Accuracy.Confidence)
	}
	return "at least " + level(r.Accuracy.Confidence)
}

// sentence is the headline. Noise is drawn per number, so the part of numbers
// that are covered is an average, not a certainty. Where an interval covers, the
// number shown is within its margin rounded up, as the exact count is whole.
func (a Accuracy) sentence(together bool) string {
	within := "lie within ±" + budget.Group(plan.WholeMargin(a.Margin)) + " of the exact count"
	if a.Margin == 0 {
		within = "equal the exact count"
	}
	part := "at least " + level(a.Confidence)
	if together {
		part = "about " + level(a.Confidence) + " or more"
	}
	s := fmt.Sprintf("Of the %s published numbers, on average %s %s, before sampling and response error", budget.Group(a.Numbers), part, within)
	if !a.OneMargin {
		s += "; some tables are more exact than that, and the list of tables gives the margin of each"
	}
	return s + "."
}
