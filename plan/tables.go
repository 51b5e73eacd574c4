package plan

import (
	"slices"
	"strings"

	"github.com/dprelease/dprelease/plan/attributes"
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

// Query is the marginal that a table shows, of identity factors: of the attributes that it is counted by.
func (p *Plan) Query(t Table) Query {
	return MarginalOf(t.From, attributes.CountedBy(p.Release().Table(t.From), t.Attributes()))
}

// Shown is the same marginal of the attributes that the table is published by: a derived column in the place of its
// origin. Both have the same cells in the same order.
func (p *Plan) Shown(t Table) Query { return MarginalOf(t.From, t.Attributes()) }

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

// SummedAlong returns the attributes of a table along which it counts up, and those along which sums of neighbours are
// asked for, as the spec lists them.
func (p *Plan) SummedAlong(t Table) (cumulative, ranges []string) {
	along := func(asked []spec.Attribute) []string {
		var names []string
		for _, a := range asked {
			if slices.Contains(t.By, a.String()) {
				names = append(names, a.String())
			}
		}
		return names
	}
	for _, m := range p.release.Marginals {
		if m.Name == t.Marginal {
			return along(m.Cumulative), along(m.Ranges)
		}
	}
	return nil, nil
}

// OfRows tells that the table counts the rows of the confidential table that its own bound keeps, each as 1.
func (t Table) OfRows() bool { return !t.Weighted && t.PerUnit == (spec.PerUnit{}) && t.Counts == "" }

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

// Selects returns which of its cells the table has.
func (t Table) Selects() selection.Kind {
	switch {
	case t.Sparse != nil:
		return selection.KindAbove
	case t.Top != nil:
		return selection.KindTop
	case t.Discovered != nil:
		return selection.KindGroups
	}
	return selection.KindAll
}

// SomeCells reports whether the table has some of its cells, by what is counted in them.
func (t Table) SomeCells() bool { return t.Selects() != selection.KindAll }

// Gives reports whether a selection gives out the cells that the table has.
func (t Table) Gives(s selection.Selection) bool {
	if s.Kind() != t.Selects() {
		return false
	}
	switch s := s.(type) {
	case selection.Above:
		return s.Threshold == t.Sparse.Above
	case selection.Top:
		return s.Of == t.Top.Of && s.Of < t.Cells && s.Sensitivity > 0
	}
	return true
}

// SelectsAs reports whether the table has the cells that the spec asks for, as far as that is known before there is a
// budget.
func (t Table) SelectsAs(asked Table) bool {
	if t.Selects() != asked.Selects() {
		return false
	}
	switch t.Selects() {
	case selection.KindAbove:
		return t.Sparse.Above == asked.Sparse.Above
	case selection.KindTop:
		return t.Top.Of == asked.Top.Of
	case selection.KindGroups:
		return t.Discovered.AsAsked(*asked.Discovered)
	}
	return true
}
