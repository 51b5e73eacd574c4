package report

// This file holds the bounds: the ranges to which values and weights are clamped before they are added up, and the
// largest contribution of one unit to a table.

import (
	"strings"

	"github.com/dprelease/dprelease/report/internal/words"
	"github.com/dprelease/dprelease/spec/language"
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
func (b *Bounds) Sentences(l *language.Language) []string {
	if b == nil {
		return nil
	}
	var all []string
	for _, c := range b.Columns {
		all = append(all, c.boundSentence(l))
	}
	for _, w := range b.Weights {
		all = append(all, l.Text(
			"Each row of %s counts with its weight (column %s of the source). A weight outside the range from %s to "+
				"%s counts as the nearer end of the range, and weights are rounded to a multiple of %s. So a row "+
				"counts as %[4]s at most.",
			w.Table, w.From, l.Number(words.Rat(w.Low)), l.Number(words.Rat(w.High)), l.Number(words.Rat(w.Step))))
	}
	var said words.TablesByText
	for _, t := range b.Tables {
		said.Add(t.boundText(l), t.Table)
	}
	return append(all, said.Say(func(tables []string, bound string) string {
		return l.Text("In %s, one unit counts %s; rows beyond that are dropped at random, under a secret key.",
			l.FirstFew(tables), bound)
	})...)
}

// mostRanges is the number of ranges that a sentence lists.
const mostRanges = 12

func (c ColumnBounds) boundSentence(l *language.Language) string {
	to := l.Text("The range is %s.", c.Ranges[0].text(l))
	if c.By != "" {
		var ranges []string
		for _, r := range c.Ranges[:min(len(c.Ranges), mostRanges)] {
			ranges = append(ranges, r.Category+" "+r.text(l))
		}
		if more := len(c.Ranges) - mostRanges; more > 0 {
			ranges = append(ranges, l.Text("and %d more, which are in report.json", more))
		}
		to = l.Text("The ranges, by %s, are: %s.", c.By, strings.Join(ranges, ", "))
	}
	return l.Text(
		"Values of %s are rounded to a multiple of %s, and a value outside its range counts as the nearer end. %s",
		c.Column,
		l.Number(words.Rat(c.Step)), to)
}

// text writes the range without its category.
func (r Range) text(l *language.Language) string {
	return l.Text("%s to %s", l.Number(words.Rat(r.Low)), l.Number(words.Rat(r.High)))
}

// boundText returns the bounds of a table in words.
func (t TableBounds) boundText(l *language.Language) string {
	return strings.Join(words.NonEmpty(
		words.When(t.Groups > 0, l.Text("in at most %s", l.Plural(t.Groups, "cell"))),
		words.When(t.RowsPerGroup > 0, l.Text("with at most %s in each cell", l.Plural(t.RowsPerGroup, "row"))),
		words.When(t.Total > 0, l.Text("with at most %s in all", l.Plural(t.Total, "row"))),
	), ", ")
}
