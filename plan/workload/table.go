package workload

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/plan/phrase"
	"github.com/dprelease/dprelease/plan/residual"
	"github.com/dprelease/dprelease/plan/selection"
	"github.com/dprelease/dprelease/plan/statistic"
	"github.com/dprelease/dprelease/spec"
)

// This file holds the requested tables: their identity, what they count, and the names of their columns.

// Table is a published table while it is planned.
type Table struct {
	Index     int // index among the tables of the release
	Path      string
	Marginal  *spec.Marginal
	By        []spec.Attribute // as it is published
	CountedBy []spec.Attribute // as its rows are counted: for derived columns, their origins
	Leaf      int
	Weight    float64 // weight of the variance of each of its cells
	Cells     int64
	Sums      []residual.Sums // what it shows along each of CountedBy
	// Impossible is how many of the cells are exact zeros. Such a table is measured by itself: what is known of its
	// cells is no sum of the residuals of others.
	Impossible int64
	Filled     int64          // of a sparse table: how many cells it counts for
	Discovers  []*spec.Column // its columns whose categories are not listed
	// PartOf is the table whose figures a part serves; nil for a published table.
	PartOf *Table
	// Counted is what is counted, PerUnit the bound on the rows of a unit, and Selection which answers are given out,
	// as far as that is known before there is a budget.
	Counted   counted.Counted
	PerUnit   spec.PerUnit
	Selection selection.Selection
	// Bins are what quantiles are read from, by the kind of noise; without any they are drawn. guessed reports whether
	// the range of the column is a guess, so that they are always drawn.
	Bins    map[budget.Kind]counted.Bins
	guessed bool
	words   phrase.Phrase // of a diagnostic table: what it counts
}

// HasSums reports whether the table accumulates along an attribute, or needs ranges.
func (t *Table) HasSums() bool {
	return slices.ContainsFunc(t.Sums, func(s residual.Sums) bool { return s != residual.Cells })
}

// SumsOf returns what a marginal shows along each of some of its attributes.
func SumsOf(m *spec.Marginal, by []spec.Attribute) []residual.Sums {
	sums := make([]residual.Sums, len(by))
	for i, a := range by {
		switch {
		case slices.Contains(m.Cumulative, a):
			sums[i] = residual.Prefixes
		case slices.Contains(m.Ranges, a):
			sums[i] = residual.Ranges
		}
	}
	return sums
}

// VarianceWeight returns the weight that the spec gives to the variance of the table's cells.
func (t *Table) VarianceWeight() float64 {
	weight, _ := t.Marginal.Weight.Float64()
	return weight
}

// Query returns the marginal that a table shows.
func (t *Table) Query() plan.Query {
	q := plan.MarginalOf(t.Marginal.Table, t.CountedBy)
	q.Counted, q.PerUnit = t.Counted, t.PerUnit
	return q
}

// The names of the figures that tables hold: how many rows a cell has or, if the table accumulates along an
// attribute, how many it has together with the cells before it.
const (
	CountName      = "count"
	CumulativeName = "cumulative_count"
)

// statistic returns the name of a table's figure.
func (t *Table) statistic() string {
	has := func(k spec.StatKind) bool {
		return slices.ContainsFunc(t.Marginal.Stats, func(s spec.Stat) bool { return s.Kind == k })
	}
	switch {
	case slices.Contains(t.Sums, residual.Prefixes):
		return CumulativeName
	case has(spec.Units) && !has(spec.Count):
		return spec.Units.String()
	}
	return CountName
}

// distinctColumns returns a fault if two columns of a table would have one name: a key, its label, or a figure with
// its error columns.
func distinctColumns(t *Table) error {
	owner := map[string]string{}
	for _, suffix := range []string{statistic.Published, statistic.Unbiased, statistic.StandardError, statistic.Low,
		statistic.High, statistic.Flag} {
		owner[t.statistic()+suffix] = "the figures"
	}
	for _, a := range t.By {
		for _, name := range []string{a.String(), a.String() + statistic.LabelSuffix} {
			if other, ok := owner[name]; ok {
				return &Fault{"by", fmt.Sprintf("table %s would have two columns %q, of %s and of %s", t.Path, name,
					other, a),
					fmt.Sprintf("a column of another name that says where it comes from (from: %s)", a.Column)}
			}
			owner[name] = a.String()
		}
	}
	return nil
}

// TablePath returns the path of the marginal over some attributes: the marginal's name or, if the spec asks for every
// subset, a file of its own below that name.
func TablePath(marginal string, every bool, by []spec.Attribute) string {
	if !every {
		return marginal
	}
	if len(by) == 0 {
		return marginal + "/total"
	}
	names := make([]string, len(by))
	for i, a := range by {
		names[i] = a.String()
	}
	return marginal + "/" + strings.Join(names, "_x_")
}

// Unit returns what one unit contributes to the table: of a top-k table, to the counts of the k cells that are chosen.
func (t *Table) Unit(r *spec.Release) counted.Unit {
	u := counted.Unit{Table: r.Table(t.Marginal.Table), Neighbours: r.Privacy.Neighbours, PerUnit: t.PerUnit,
		Cells: t.Groups()}
	if k := t.Top(); k > 0 {
		u.Cells = k
	}
	return u
}
