package report

// This file holds the bounds: the ranges to which values and weights are clamped before they are added up, and the
// largest contribution of one unit to a table.

import (
	"fmt"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/report/internal/words"
)

// Bounds are the bounds that a release applies to its rows before it adds anything up. All of them are public: they are
// written in the spec.
type Bounds struct {
	Columns []ColumnBounds `json:"columns"` // whose values figures use
	Weights []WeightBounds `json:"weights"`
	Tables  []TableBounds  `json:"tables"` // published tables with bounds of their own
}

// ColumnBounds are the bounds of a column's values: each is rounded to a multiple of Step, and clamped to its range.
type ColumnBounds struct {
	Table  string  `json:"table"` // confidential
	Column string  `json:"column"`
	Step   string  `json:"step"`
	By     string  `json:"by,omitempty"` // the column whose categories have ranges of their own
	Ranges []Range `json:"ranges"`       // one for all values, or one for each category of By
}

// Range is a closed range of exact numbers.
type Range struct {
	Category string `json:"category,omitempty"`
	Low      string `json:"low"`
	High     string `json:"high"`
}

// WeightBounds are the bounds of the weights by which the rows of a table count.
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

// TableBounds are how many rows of one unit a published table counts at most, in addition to the bound on all rows; 0
// means no such bound.
type TableBounds struct {
	Table        string `json:"table"`
	Groups       int64  `json:"groups,omitempty"` // cells that contain its rows
	RowsPerGroup int64  `json:"rows_per_group,omitempty"`
	Total        int64  `json:"total,omitempty"`
}

// OfValues reports whether values are clamped to ranges.
func (b *Bounds) OfValues() bool { return b != nil && len(b.Columns) > 0 }

// OfWeights reports whether weights are clamped to ranges.
func (b *Bounds) OfWeights() bool { return b != nil && len(b.Weights) > 0 }

// Sentences returns all bounds in words.
func (b *Bounds) Sentences() []string {
	if b == nil {
		return nil
	}
	var all []string
	for _, c := range b.Columns {
		all = append(all, c.boundSentence())
	}
	for _, w := range b.Weights {
		all = append(all, fmt.Sprintf(
			"Each row of %s counts by its weight (column %s of the source), brought to %s to %s and rounded to a multiple of %s: a row counts as %[4]s at most, whatever its weight says.",
			w.Table, w.From, words.Rat(w.Low), words.Rat(w.High), words.Rat(w.Step)))
	}
	var said words.TablesByText
	for _, t := range b.Tables {
		said.Add(t.boundText(), t.Table)
	}
	return append(all, said.Sentences(
		"In %s one unit counts %s; which of its groups and rows stay is drawn by lot under a secret key.")...)
}

// mostRanges is the number of ranges that a sentence lists.
const mostRanges = 12

func (c ColumnBounds) boundSentence() string {
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

// boundText returns the bounds of a table in words.
func (t TableBounds) boundText() string {
	return strings.Join(words.NonEmpty(
		words.When(t.Groups > 0, "in at most "+budget.Plural(t.Groups, "group")),
		words.When(t.RowsPerGroup > 0, "with at most "+budget.Plural(t.RowsPerGroup, "row")+" in a group"),
		words.When(t.Total > 0, "with at most "+budget.Plural(t.Total, "row")+" in all"),
	), ", ")
}
