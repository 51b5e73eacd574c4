package report

// This file holds the bounds: to which ranges values and weights are brought before they are added up, and what one
// unit may add to a table.

import (
	"fmt"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/report/internal/words"
)

// Bounds are what a release brings its rows to before it adds anything up. All of it is public: it stands in the spec.
type Bounds struct {
	Columns []ColumnBounds `json:"columns"` // that figures are of
	Weights []WeightBounds `json:"weights"`
	Tables  []TableBounds  `json:"tables"` // published ones, with bounds of their own
}

// ColumnBounds are those of the values of a column: each is rounded to a multiple of Step, and brought to the end of
// its range where it lies beyond.
type ColumnBounds struct {
	Table  string  `json:"table"` // confidential
	Column string  `json:"column"`
	Step   string  `json:"step"`
	By     string  `json:"by,omitempty"` // the column whose categories have ranges of their own
	Ranges []Range `json:"ranges"`       // one for all, or one for each category of By
}

// Range is a closed range of exact numbers.
type Range struct {
	Category string `json:"category,omitempty"`
	Low      string `json:"low"`
	High     string `json:"high"`
}

// WeightBounds are those of the weights by which the rows of a table count.
type WeightBounds struct {
	Table string `json:"table"` // confidential
	From  string `json:"from"`  // column of the source
	Low   string `json:"low"`
	High  string `json:"high"`
	Step  string `json:"step"`
	Kind  string `json:"kind"` // "design" or "calibrated"
}

// Kinds of weights, as a spec writes them.
const (
	DesignWeights     = "design"
	CalibratedWeights = "calibrated"
)

// TableBounds are how many rows of one unit a published table counts at most, beside the bound of all rows; 0: no such
// bound.
type TableBounds struct {
	Table        string `json:"table"`
	Groups       int64  `json:"groups,omitempty"` // cells that its rows are in
	RowsPerGroup int64  `json:"rows_per_group,omitempty"`
	Total        int64  `json:"total,omitempty"`
}

// OfValues reports whether values are brought to ranges.
func (b *Bounds) OfValues() bool { return b != nil && len(b.Columns) > 0 }

// OfWeights reports whether weights are brought to ranges.
func (b *Bounds) OfWeights() bool { return b != nil && len(b.Weights) > 0 }

// Sentences say all bounds in words.
func (b *Bounds) Sentences() []string {
	if b == nil {
		return nil
	}
	var all []string
	for _, c := range b.Columns {
		all = append(all, c.sentence())
	}
	for _, w := range b.Weights {
		all = append(all, fmt.Sprintf(
			"Each row of %s counts by its weight (column %s of the source), brought to %s to %s and rounded to a multiple of %s: a row counts as %[4]s at most, whatever its weight says.", w.Table, w.From, words.Rat(w.Low), words.Rat(w.High), words.Rat(w.Step)))
	}
	var said words.Alike
	for _, t := range b.Tables {
		said.Add(t.text(), t.Table)
	}
	return append(all, said.Sentences(
		"In %s one unit counts %s; which of its groups and rows stay is drawn by lot under a secret key.")...)
}

// mostRanges is how many ranges a sentence lists.
const mostRanges = 12

func (c ColumnBounds) sentence() string {
	to := fmt.Sprintf("%s to %s", words.Rat(c.Ranges[0].Low), words.Rat(c.Ranges[0].High))
	if c.By != "" {
		var ranges []string
		for _, r := range c.Ranges[:min(len(c.Ranges), mostRanges)] {
			ranges = append(ranges, fmt.Sprintf("%s %s to %s", r.Category, words.Rat(r.Low), words.Rat(r.High)))
		}
		if more := len(c.Ranges) - mostRanges; more > 0 {
			ranges = append(ranges, fmt.Sprintf("and %d more that report.json has", more))
		}
		to = fmt.Sprintf("a range by %s: %s", c.By, strings.Join(ranges, ", "))
	}
	return fmt.Sprintf(
		"Values of %s are rounded to a multiple of %s and brought to %s; what lies beyond counts as the end.", c.Column,
		words.Rat(c.Step), to)
}

// text says the bounds of a table.
func (t TableBounds) text() string {
	return strings.Join(words.Said(
		words.When(t.Groups > 0, "in at most "+budget.Plural(t.Groups, "group")),
		words.When(t.RowsPerGroup > 0, "with at most "+budget.Plural(t.RowsPerGroup, "row")+" in a group"),
		words.When(t.Total > 0, "with at most "+budget.Plural(t.Total, "row")+" in all"),
	), ", ")
}
