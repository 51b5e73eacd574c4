package report

// This file holds the bounds: to which ranges values and weights are brought before they are added up, and what one unit may
// add to a table.

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/spec"
)

// Bounds are what a release brings its rows to before it adds anything up. All of it is public: it stands in the spec.
type Bounds struct {
	Columns []ColumnBounds `json:"columns"` // that figures are of
	Weights []WeightBounds `json:"weights"`
	Tables  []TableBounds  `json:"tables"` // published ones, with bounds of their own
}

// ColumnBounds are those of the values of a column: each is rounded to a multiple of Step, and brought to the end of its range
// where it lies beyond.
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
	designWeights     = "design"
	calibratedWeights = "calibrated"
)

// TableBounds are how many rows of one unit a published table counts at most, beside the bound of all rows; 0: no such bound.
type TableBounds struct {
	Table        string `json:"table"`
	Groups       int64  `json:"groups,omitempty"` // cells that its rows are in
	RowsPerGroup int64  `json:"rows_per_group,omitempty"`
	Total        int64  `json:"total,omitempty"`
}

// boundsOf are the bounds of a release, nil where it counts rows, each as one, under one bound of rows.
func boundsOf(p *plan.Plan, tables []Table) *Bounds {
	b := &Bounds{Columns: []ColumnBounds{}, Weights: []WeightBounds{}, Tables: []TableBounds{}}
	for _, t := range p.Release().Tables {
		for _, c := range t.Columns {
			if c.Lattice != nil && figuresAreOf(p, tables, t.Name, c.Name) {
				b.Columns = append(b.Columns, columnBoundsOf(t, c))
			}
		}
		if w := t.Weight; w != nil && slices.ContainsFunc(p.Tables, func(of plan.Table) bool { return of.From == t.Name && of.Weighted }) {
			kind := designWeights
			if w.Calibrated {
				kind = calibratedWeights
			}
			b.Weights = append(b.Weights, WeightBounds{
				Table: t.Name, From: w.From, Kind: kind, Step: budget.FormatRat(w.Lattice.Step),
				Low: budget.FormatRat(w.Lattice.Value(w.Lattice.First)), High: budget.FormatRat(w.Lattice.Value(w.Lattice.Last)),
			})
		}
	}
	for _, t := range p.Tables {
		if u := t.PerUnit; u != nil {
			b.Tables = append(b.Tables, TableBounds{Table: t.Path, Groups: u.Groups, RowsPerGroup: u.RowsPerGroup, Total: u.Total})
		}
	}
	if len(b.Columns)+len(b.Weights)+len(b.Tables) == 0 {
		return nil
	}
	return b
}

// figuresAreOf tells that figures are of the values of a column of a confidential table.
func figuresAreOf(p *plan.Plan, tables []Table, from, column string) bool {
	for i, t := range tables {
		if p.Tables[i].From == from && slices.ContainsFunc(t.Figures, func(f Figure) bool { return slices.Contains(f.Columns, column) }) {
			return true
		}
	}
	return false
}

func columnBoundsOf(t *spec.Table, c *spec.Column) ColumnBounds {
	l := c.Lattice
	out := ColumnBounds{Table: t.Name, Column: c.Name, Step: budget.FormatRat(l.Step), By: l.By, Ranges: []Range{}}
	between := func(category string, first, last int64) {
		out.Ranges = append(out.Ranges, Range{category, budget.FormatRat(l.Value(first)), budget.FormatRat(l.Value(last))})
	}
	if l.By == "" {
		between("", l.First, l.Last)
		return out
	}
	finest, _ := t.Column(l.By).Domain.Level("")
	for i, s := range l.Strata {
		between(finest.Categories[i].Code, s.First, s.Last)
	}
	return out
}

// assumption is what the guarantee takes weights to be.
func (w WeightBounds) assumption(protects string) string {
	if w.Kind == calibratedWeights {
		return fmt.Sprintf("Weights of %s were calibrated, so that they depend on the rows of others: the guarantee holds for rows with weights as they are. What the weight of one %s tells of another is not covered.", w.Table, protects)
	}
	return fmt.Sprintf("Weights of %s are attributes of the %s, as the spec says, and depend on no other: of weights that were adjusted to totals the guarantee holds only for rows with weights as they are.", w.Table, protects)
}

// Calibrated tells that the weights of some table depend on other rows.
func (b *Bounds) Calibrated() bool {
	return b != nil && slices.ContainsFunc(b.Weights, func(w WeightBounds) bool { return w.Kind == calibratedWeights })
}

// Sentences say all bounds in words.
func (b *Bounds) Sentences() []string {
	var all []string
	if b == nil {
		return nil
	}
	for _, c := range b.Columns {
		all = append(all, c.sentence())
	}
	for _, w := range b.Weights {
		all = append(all, fmt.Sprintf("Each row of %s counts by its weight (column %s of the source), brought to %s to %s and rounded to a multiple of %s: a row counts as %[4]s at most, whatever its weight says.", w.Table, w.From, ratText(w.Low), ratText(w.High), ratText(w.Step)))
	}
	said := map[string][]string{}
	var order []string
	for _, t := range b.Tables {
		text := t.text()
		if said[text] == nil {
			order = append(order, text)
		}
		said[text] = append(said[text], t.Table)
	}
	for _, text := range order {
		all = append(all, fmt.Sprintf("In %s one unit counts %s; which of its groups and rows stay is drawn by lot under a secret key.", fewNames(said[text]), text))
	}
	return all
}

// mostRanges is how many ranges a sentence lists.
const mostRanges = 12

func (c ColumnBounds) sentence() string {
	b := &strings.Builder{}
	fmt.Fprintf(b, "Values of %s are rounded to a multiple of %s and brought to", c.Column, ratText(c.Step))
	if c.By == "" {
		fmt.Fprintf(b, " %s to %s", ratText(c.Ranges[0].Low), ratText(c.Ranges[0].High))
	} else {
		fmt.Fprintf(b, " a range by %s:", c.By)
		for i, r := range c.Ranges[:min(len(c.Ranges), mostRanges)] {
			if i > 0 {
				b.WriteString(",")
			}
			fmt.Fprintf(b, " %s %s to %s", r.Category, ratText(r.Low), ratText(r.High))
		}
		if more := len(c.Ranges) - mostRanges; more > 0 {
			fmt.Fprintf(b, ", and %d more that report.json has", more)
		}
	}
	b.WriteString("; what lies beyond counts as the end.")
	return b.String()
}

// text says the bounds of a table.
func (t TableBounds) text() string {
	var parts []string
	if t.Groups > 0 {
		parts = append(parts, "in at most "+budget.Plural(t.Groups, "group"))
	}
	if t.RowsPerGroup > 0 {
		parts = append(parts, "with at most "+budget.Plural(t.RowsPerGroup, "row")+" in a group")
	}
	if t.Total > 0 {
		parts = append(parts, "with at most "+budget.Plural(t.Total, "row")+" in all")
	}
	return strings.Join(parts, ", ")
}

// ratText shows an exact number, which may be below zero, in decimals; one that has none is left as it is.
func ratText(text string) string {
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		return text
	}
	if r.Sign() < 0 {
		return "−" + ratText(new(big.Rat).Neg(r).RatString())
	}
	if r.IsInt() {
		return budget.GroupDigits(r.Num().String())
	}
	if n, exact := r.FloatPrec(); exact && n <= 9 {
		return r.FloatString(n)
	}
	return text
}
