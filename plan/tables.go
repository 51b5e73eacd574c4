package plan

import (
	"strings"

	"github.com/dprelease/dprelease/plan/selection"
	"github.com/dprelease/dprelease/plan/usefulness"
	"github.com/dprelease/dprelease/spec"
)

// This file holds the published tables: which there are, and what their columns mean.

// Table is one published table: a row per combination of categories of By, in
// domain order, the last attribute's fastest; of a sparse table without those that
// are not above its threshold.
type Table struct {
	Path       string   `json:"path"`
	Marginal   string   `json:"marginal"`
	From       string   `json:"from"` // the confidential table whose rows it counts
	By         []string `json:"by"`
	Cells      int64    `json:"cells"`
	Impossible int64    `json:"impossible,omitempty"` // of them, exact zeros by the spec
	// whose public figures, or sums of them, its cells are; "" of others
	Invariant  string                 `json:"invariant,omitempty"`
	Sparse     *selection.AboveFacts  `json:"sparse,omitempty"`
	Top        *selection.TopFacts    `json:"top,omitempty"`        // of its cells it has those that were chosen
	Discovered *selection.GroupsFacts `json:"discovered,omitempty"` // its groups are not listed, and Cells is 0
	Statistics []Statistic            `json:"statistics"`
	// Figures are what is published of a cell beside its count, in the order of the spec.
	Figures []Figure `json:"figures,omitempty"`
	// Counts says what is counted in place of rows, of a table of what is left out.
	Counts string `json:"counts,omitempty"`
	// Weighted counts are sums of weights, in units of the weight's step as they are measured.
	Weighted bool `json:"weighted,omitempty"`
	// PerUnit bounds the rows of a unit that the table counts.
	PerUnit spec.PerUnit `json:"per_unit,omitzero"`
	// Show is the least noisy count of a cell whose figures are published; 0: all are.
	Show        int64                  `json:"show,omitempty"`
	Target      *Target                `json:"target,omitempty"`
	Expectation string                 `json:"expectation"` // in words: what the table will be good for
	Usefulness  *usefulness.Usefulness `json:"usefulness,omitempty"`
}

// Attributes are those that a table is published by.
func (t Table) Attributes() []spec.Attribute {
	out := make([]spec.Attribute, len(t.By))
	for i, by := range t.By {
		out[i] = AttributeOf(by)
	}
	return out
}

// AttributeOf reads an attribute as a spec writes it: a column, or a column and a level.
func AttributeOf(name string) spec.Attribute {
	column, level, _ := strings.Cut(name, ".")
	return spec.Attribute{Column: column, Level: level}
}

// File is where the table lies within a release.
func (t Table) File() string { return "tables/" + t.Path + ".parquet" }

// Statistic is one published figure per cell and how good it will be.
type Statistic struct {
	Name string `json:"name"`
	// Measurement is the ID of the one measurement that the figure is, as it was drawn;
	// empty where it is put together from several.
	Measurement string `json:"measurement,omitempty"`
	// Unit is what one integer of that measurement stands for, an exact fraction; "" for 1.
	Unit          string  `json:"unit,omitempty"`
	StandardError float64 `json:"standard_error"` // root mean square over the cells
	// Uneven is set where cells differ: the largest standard error of one.
	Uneven float64 `json:"largest_standard_error,omitempty"`
	// Median is what half of the cells are off by at most; the others are off by as much or more.
	Median float64 `json:"median_error"`
	// OfRanges is the root mean square standard error of all sums of neighbouring categories, where these are asked for.
	OfRanges float64 `json:"ranges_error,omitempty"`
	// Margin is half the width of a cell's interval, of the widest.
	Margin     float64 `json:"margin"`
	Confidence float64 `json:"confidence"` // asked of the interval
	Attained   float64 `json:"attained"`   // given by the law, at least Confidence
}

// UnitValue returns what one integer of the statistic's measurement stands for: Unit as a number, or 1. In a plan that
// New made or Read returned Unit is "" or a positive fraction.
func (s Statistic) UnitValue() float64 {
	if s.Unit == "" {
		return 1
	}
	value, _ := Amount(s.Unit).Float64()
	return value
}
