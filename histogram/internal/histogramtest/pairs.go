package histogramtest

// This file enumerates what may be asked of a table: every pair of what is counted and which answers are given out, in
// every form. Tests that brute-force the pairs share it.

import (
	"slices"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/plan/selection"
	"github.com/dprelease/dprelease/spec"
)

// LegalPairs are the pairs that a plan may ask for.
var LegalPairs = []string{"rows × all", "rows × above", "rows × top", "rows × groups", "values × all",
	"values × above", "values × top", "quantiles × all", "bins × all", "distinct × all", "diagnostic × all"}

// PairOf returns a pair's name.
func PairOf(k counted.Kind, s selection.Kind) string {
	return [...]string{"rows", "values", "quantiles", "bins", "distinct", "diagnostic"}[k] + " × " +
		[...]string{"all", "above", "top", "groups"}[s]
}

// PairColumns are the columns of a table with weights, by which everything is asked.
type PairColumns struct {
	Table    string
	Category string // with any number of values
	Stratum  string // with two
	Number   string // with a range, of which ranges are asked too
	Strata   string // with a range for each value of Stratum
	Found    string // whose categories are discovered
}

// PairForm is a question, with its pair, and whether a plan may ask it.
type PairForm struct {
	plan.Measurement
	Pair  string
	Legal bool
}

// shapesOf returns questions of every shape of a kind.
func (c PairColumns) shapesOf(k counted.Kind) []counted.Counted {
	return [counted.Kinds][]counted.Counted{
		counted.KindRows: {counted.Rows{}},
		counted.KindValues: {counted.Values{Weight: true}, counted.Values{Column: c.Number, Power: 1, Times: 2, Minus: 3},
			counted.Values{Column: c.Number, Power: 2, Times: 1, Weight: true}, counted.Values{Column: c.Strata, Beyond: true},
			counted.Values{Column: c.Strata, Power: 1, Times: 2, Per: c.Stratum, By: []int64{4, 3}, Off: []int64{3, 8}}},
		counted.KindQuantiles: {counted.Quantiles{Column: c.Number, At: []string{"1/2"}},
			counted.Quantiles{Column: c.Strata, At: []string{"1/4", "1/2"}, Weight: true, Shift: 5, Beyond: 9}},
		counted.KindBins: {counted.Bins{Column: c.Number, Width: 1}, counted.Bins{Column: c.Strata, Width: 2, Weight: true},
			counted.Bins{Column: c.Number, Width: 1, Total: 3, Method: "haar-laplace"}},
		counted.KindDistinct: {counted.Distinct{Column: c.Number, PerUnit: 1},
			counted.Distinct{Column: c.Stratum, PerUnit: 2}},
		counted.KindDiagnostic: {counted.UnitsOver, counted.RowsOver, counted.RowsLeftOut},
	}[k]
}

// Forms returns every question to a table of a release: every pair, of every shape of its kind, without factors and by
// each kind of them, without bounds and with each. Reports are left out: they are of no rows.
func (c PairColumns) Forms(r *spec.Release) (all []PairForm) {
	ranges := plan.Factor{Attribute: c.Number, Basis: plan.Ranges, Sums: "prefixes", Method: "haar-laplace"}
	category, stratum := plan.Factor{Attribute: c.Category, Basis: plan.Identity},
		plan.Factor{Attribute: c.Stratum, Basis: plan.Identity}
	for k := range counted.Kind(counted.Kinds) {
		if k == counted.KindReports {
			continue
		}
		for _, s := range []selection.Selection{selection.All{}, selection.Above{Threshold: 3},
			selection.Top{Of: 1, Sensitivity: 9}, selection.Groups{Columns: []string{c.Found}, Groups: 2}} {
			for _, what := range c.shapesOf(k) {
				for _, factors := range [][]plan.Factor{nil, {category}, {category, stratum},
					{{Attribute: c.Category, Basis: plan.Residual}}, {ranges}, {stratum, ranges}} {
					if s.Kind() == selection.KindGroups {
						factors = append([]plan.Factor{{Attribute: c.Found, Basis: plan.Identity}}, factors...)
					}
					for _, u := range []spec.PerUnit{{}, {Groups: 1}, {RowsPerGroup: 1}, {Total: 1},
						{Groups: 1, RowsPerGroup: 1, Total: 1}} {
						all = append(all, c.form(r, plan.Query{Table: c.Table, Factors: factors, Counted: what, PerUnit: u}, s))
					}
				}
			}
		}
	}
	return all
}

// form returns a question with its pair.
func (c PairColumns) form(r *spec.Release, q plan.Query, s selection.Selection) PairForm {
	pair := PairOf(q.Counted.Kind(), s.Kind())
	f := PairForm{Measurement: plan.Measurement{ID: pair, Query: q, Selection: s}, Pair: pair,
		Legal: slices.Contains(LegalPairs, pair) && isLegal(q)}
	table := r.Table(c.Table)
	if f.Cells = q.Counted.PerCell(table); s.Kind() == selection.KindGroups {
		return f // nobody lists the cells
	}
	for _, factor := range q.Factors {
		level, _ := table.Column(factor.Attribute).Domain.Level(factor.Level)
		size := int64(level.Size())
		if factor.Basis == plan.Ranges {
			size-- // the rows in all are known from the other factors
		}
		f.Cells *= size
	}
	return f
}

// isLegal reports whether what is counted is counted by such factors, with such a bound.
func isLegal(q plan.Query) bool {
	plain := !slices.ContainsFunc(q.Factors, func(f plan.Factor) bool { return f.Basis != plan.Identity })
	unbounded := q.PerUnit == spec.PerUnit{}
	switch q.Counted.Kind() {
	case counted.KindRows, counted.KindValues:
		return true
	case counted.KindQuantiles, counted.KindBins:
		return plain
	case counted.KindDistinct:
		return plain && unbounded
	}
	return len(q.Factors) == 0 && unbounded
}
