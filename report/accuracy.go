package report

// This file holds the headline: how close the published numbers are.

import (
	"fmt"
	"slices"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
)

// Accuracy sums up all tables: at least Confidence of the published numbers lie
// within Margin of the exact figure, on average over the noise.
type Accuracy struct {
	Numbers    int64   `json:"numbers"`    // published with noise, in all tables
	Confidence float64 `json:"confidence"` // the least of all statistics
	Margin     float64 `json:"margin"`     // the largest of all statistics
	OneMargin  bool    `json:"one_margin"` // true where every statistic has it
	Sentence   string  `json:"sentence"`
}

func accuracyOf(tables []Table) Accuracy {
	a := Accuracy{Confidence: 1, OneMargin: true}
	first := true
	sparse := sparseIn(tables)
	for _, t := range tables {
		if t.Sparse != nil && len(sparse) < len(tables) {
			continue // of its cells those are shown that the noise has lifted: no margin is that of them alone
		}
		for _, s := range t.Statistics {
			a.Numbers += t.Cells - t.Impossible
			a.Confidence = min(a.Confidence, s.Confidence)
			a.OneMargin = a.OneMargin && (first || s.Margin == a.Margin)
			a.Margin = max(a.Margin, s.Margin)
			first = false
		}
	}
	if a.Sentence = a.sentence(); len(sparse) == len(tables) {
		a.Sentence = a.sparseSentence()
	} else if len(sparse) > 0 {
		var rows int64
		for _, t := range sparse {
			rows += t.Cells
		}
		a.Sentence += fmt.Sprintf(" %s more are in tables of the cells above a threshold, about which the reading notes tell.", budget.Group(rows))
	}
	if n := impossibleIn(tables); n > 0 {
		a.Sentence += fmt.Sprintf(" %s more cannot be by the spec, and are exact zeros.", budget.Group(n))
	}
	return a
}

// sparseIn are the sparse ones of some tables.
func sparseIn(tables []Table) []Table {
	var out []Table
	for _, t := range tables {
		if t.Sparse != nil {
			out = append(out, t)
		}
	}
	return out
}

// sparseSentence is the headline of a release of sparse tables alone.
func (a Accuracy) sparseSentence() string {
	return fmt.Sprintf("Of all cells of its tables, published or not, on average at least %s have a noisy count within ±%s of the exact one, before sampling and response error; the %s that are above their threshold are published, and are too large on the mean where they are little above it.",
		level(a.Confidence), budget.Group(plan.WholeMargin(a.Margin)), budget.Group(a.Numbers))
}

// together tells that some table is not one measurement as it was drawn.
func together(tables []Table) bool {
	return some(tables, func(s Statistic) bool { return s.Mechanism == nil })
}

// joint tells that some table is put together from several measurements, or from one
// that is no table.
func joint(tables []Table) bool { return some(tables, Statistic.joint) }

func (s Statistic) joint() bool { return s.Mechanism == nil && s.SumOf == "" }

// uneven tells that cells of some table have different errors.
func uneven(tables []Table) bool {
	return some(tables, func(s Statistic) bool { return s.Largest > 0 })
}

func some(tables []Table, is func(Statistic) bool) bool {
	return slices.ContainsFunc(tables, func(t Table) bool { return slices.ContainsFunc(t.Statistics, is) })
}

// Chance is that of an interval to hold the exact count, in words.
func (r *Report) Chance() string { return "at least " + level(r.Accuracy.Confidence) }

// sentence is the headline. Noise is drawn per number, so the part of numbers
// that are covered is an average, not a certainty. Where an interval covers, the
// number shown is within its margin rounded up, as the exact count is whole.
func (a Accuracy) sentence() string {
	within := "lie within ±" + budget.Group(plan.WholeMargin(a.Margin)) + " of the exact count"
	if a.Margin == 0 {
		within = "equal the exact count"
	}
	s := fmt.Sprintf("Of the %s published numbers, on average at least %s %s, before sampling and response error", budget.Group(a.Numbers), level(a.Confidence), within)
	if !a.OneMargin {
		s += "; some tables are more exact than that, and the list of tables gives the margin of each"
	}
	return s + "."
}
