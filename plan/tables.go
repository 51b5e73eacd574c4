package plan

import (
	"strings"

	"github.com/dprelease/dprelease/plan/phrase"
	"github.com/dprelease/dprelease/plan/selection"
	"github.com/dprelease/dprelease/plan/usefulness"
	"github.com/dprelease/dprelease/spec"
)

// This file holds the published tables: which there are, and what their columns mean.

// Table is one published table: a row per combination of categories of By, in domain order, the last attribute's
// fastest; a sparse table omits those that are not above its threshold.
type Table struct {
	Path       string   `json:"path"`
	Marginal   string   `json:"marginal"`
	From       string   `json:"from"` // the confidential table whose rows it counts
	By         []string `json:"by"`
	Cells      int64    `json:"cells"`
	Impossible int64    `json:"impossible,omitempty"` // of them, exact zeros by the spec
	// Invariant is the invariant whose public figures, or sums of them, its cells are; "" for none.
	Invariant  string                 `json:"invariant,omitempty"`
	Sparse     *selection.AboveFacts  `json:"sparse,omitempty"`
	Top        *selection.TopFacts    `json:"top,omitempty"`        // it has the chosen cells only
	Discovered *selection.GroupsFacts `json:"discovered,omitempty"` // its groups are not listed, and Cells is 0
	Texts      *selection.TextsFacts  `json:"texts,omitempty"`      // its texts are not listed, and Cells is 0
	Statistics []Statistic            `json:"statistics"`
	// Figures are what is published of a cell in addition to its count, in the order of the spec.
	Figures []Figure `json:"figures,omitempty"`
	// Counts says what a diagnostic table counts in place of rows.
	Counts phrase.Phrase `json:"counts,omitzero"`
	// Weighted counts are sums of weights, in units of the weight's step as they are measured.
	Weighted bool `json:"weighted,omitempty"`
	// PerUnit bounds the rows of a unit that the table counts.
	PerUnit spec.PerUnit `json:"per_unit,omitzero"`
	// Show is the least noisy count of a cell whose figures are published; 0: all are.
	Show       int64                  `json:"show,omitempty"`
	Target     *Target                `json:"target,omitempty"`
	Usefulness *usefulness.Usefulness `json:"usefulness,omitempty"`
}

// CountsUnits reports whether the table's count is of units, and of no rows.
func (t Table) CountsUnits() bool { return spec.CountsUnits(t.Statistics[0].Name) }

// Attributes returns the attributes that a table is published by.
func (t Table) Attributes() []spec.Attribute {
	out := make([]spec.Attribute, len(t.By))
	for i, by := range t.By {
		out[i] = AttributeOf(by)
	}
	return out
}

// AttributeOf parses an attribute as a spec writes it: a column, or a column and a level.
func AttributeOf(name string) spec.Attribute {
	column, level, _ := strings.Cut(name, ".")
	return spec.Attribute{Column: column, Level: level}
}

// File returns the path of the table within a release.
func (t Table) File() string { return "tables/" + t.Path + ".parquet" }

// Statistic is one published figure per cell with its accuracy.
type Statistic struct {
	Name string `json:"name"`
	// Measurement is the ID of the one measurement that the figure is, as it was drawn; empty if it is estimated from
	// several.
	Measurement string `json:"measurement,omitempty"`
	// Unit is what one integer of that measurement stands for, an exact fraction; "" for 1.
	Unit          string  `json:"unit,omitempty"`
	StandardError float64 `json:"standard_error"` // root mean square over the cells
	// Uneven is set if cells differ: the largest standard error of one.
	Uneven float64 `json:"largest_standard_error,omitempty"`
	// Median is the median absolute error of the cells.
	Median float64 `json:"median_error"`
	// OfRanges is the root mean square standard error of all sums of neighbouring categories, if these are needed.
	OfRanges float64 `json:"ranges_error,omitempty"`
	// Margin is the half width of a cell's interval, of the widest.
	Margin     float64 `json:"margin"`
	Confidence float64 `json:"confidence"` // asked of the interval
	Attained   float64 `json:"attained"`   // given by the law, at least Confidence
}

// UnitValue returns what one integer of the statistic's measurement stands for: Unit as a number, or 1. In a plan
// that New made or Read returned Unit is "" or a positive fraction.
func (s Statistic) UnitValue() float64 {
	if s.Unit == "" {
		return 1
	}
	value, _ := Amount(s.Unit).Float64()
	return value
}
