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

// kindForms says in which forms a kind is asked for, and which of them are legal.
type kindForms struct {
	anyFactor, noFactor bool // residuals and ranges too, or no factor at all
	anyBound            bool
	shapes              func(c PairColumns) []counted.Counted // one of each shape; nil if a kind is not asked for
}

var formsOfKind = [counted.Kinds]kindForms{
	counted.KindRows: {anyFactor: true, anyBound: true, shapes: func(PairColumns) []counted.Counted {
		return []counted.Counted{counted.Rows{}}
	}},
	counted.KindValues: {anyFactor: true, anyBound: true, shapes: func(c PairColumns) []counted.Counted {
		return []counted.Counted{counted.Values{Weight: true},
			counted.Values{Column: c.Number, Power: 1, Times: 2, Minus: 3},
			counted.Values{Column: c.Number, Power: 2, Times: 1, Weight: true},
			counted.Values{Column: c.Strata, Beyond: true},
			counted.Values{Column: c.Strata, Power: 1, Times: 2, Per: c.Stratum, By: []int64{4, 3}, Off: []int64{3, 8}}}
	}},
	counted.KindQuantiles: {anyBound: true, shapes: func(c PairColumns) []counted.Counted {
		return []counted.Counted{counted.Quantiles{Column: c.Number, At: []string{"1/2"}},
			counted.Quantiles{Column: c.Strata, At: []string{"1/4", "1/2"}, Weight: true, Shift: 5, Beyond: 9}}
	}},
	counted.KindBins: {anyBound: true, shapes: func(c PairColumns) []counted.Counted {
		return []counted.Counted{counted.Bins{Column: c.Number, Width: 1},
			counted.Bins{Column: c.Strata, Width: 2, Weight: true},
			counted.Bins{Column: c.Number, Width: 1, Total: 3, Method: "haar-laplace"}}
	}},
	counted.KindDistinct: {shapes: func(c PairColumns) []counted.Counted {
		return []counted.Counted{counted.Distinct{Column: c.Number, PerUnit: 1},
			counted.Distinct{Column: c.Stratum, PerUnit: 2}}
	}},
	counted.KindDiagnostic: {noFactor: true, shapes: func(PairColumns) []counted.Counted {
		return []counted.Counted{counted.UnitsOver, counted.RowsOver, counted.RowsLeftOut}
	}},
	counted.KindReports: {}, // they are of no rows
}

// selections holds, for each kind, the selection that is asked for with rows, and whether its cells are discovered.
var selections = [selection.Kinds]struct {
	of    func(c PairColumns) selection.Selection
	found bool
}{
	selection.KindAll:   {of: func(PairColumns) selection.Selection { return selection.All{} }},
	selection.KindAbove: {of: func(PairColumns) selection.Selection { return selection.Above{Threshold: 3} }},
	selection.KindTop:   {of: func(PairColumns) selection.Selection { return selection.Top{Of: 1, Sensitivity: 9} }},
	selection.KindGroups: {found: true, of: func(c PairColumns) selection.Selection {
		return selection.Groups{Columns: []string{c.Found}, Groups: 2}
	}},
	selection.KindTexts: {}, // they are of reports
}

// Forms returns every question to a table of a release: every pair, of every shape of its kind, without factors and by
// each kind of them, without bounds and with each. Groups that nobody lists are also by the column that they are found
// in.
func (c PairColumns) Forms(r *spec.Release) (all []PairForm) {
	ranges := plan.Factor{Attribute: c.Number, Basis: plan.Ranges, Sums: "prefixes", Method: "haar-laplace"}
	by := func(column string) plan.Factor { return plan.Factor{Attribute: column, Basis: plan.Identity} }
	for _, kind := range formsOfKind {
		if kind.shapes == nil {
			continue
		}
		for _, s := range selections {
			if s.of == nil {
				continue
			}
			for _, what := range kind.shapes(c) {
				for _, factors := range [][]plan.Factor{nil, {by(c.Category)}, {by(c.Category), by(c.Stratum)},
					{{Attribute: c.Category, Basis: plan.Residual}}, {ranges}, {by(c.Stratum), ranges}} {
					if s.found {
						factors = append([]plan.Factor{by(c.Found)}, factors...)
					}
					for _, u := range []spec.PerUnit{{}, {Groups: 1}, {RowsPerGroup: 1}, {Total: 1},
						{Groups: 1, RowsPerGroup: 1, Total: 1}} {
						q := plan.Query{Table: c.Table, Factors: factors, Counted: what, PerUnit: u}
						f := PairForm{Pair: PairOf(what.Kind(), s.of(c).Kind()), Measurement: plan.Measurement{
							ID: "m", Query: q, Selection: s.of(c), Cells: what.PerCell(r.Table(c.Table))}}
						f.Legal = slices.Contains(LegalPairs, f.Pair) && kind.isLegal(q)
						if !s.found {
							f.Cells *= cellsOf(r.Table(c.Table), factors)
						}
						all = append(all, f)
					}
				}
			}
		}
	}
	return all
}

// cellsOf returns how many cells factors give.
func cellsOf(t *spec.Table, factors []plan.Factor) int64 {
	cells := int64(1)
	for _, f := range factors {
		level, _ := t.Column(f.Attribute).Domain.Level(f.Level)
		size := int64(level.Size())
		if f.Basis == plan.Ranges {
			size-- // the rows in all are known from the other factors
		}
		cells *= size
	}
	return cells
}

// isLegal reports whether a kind is counted by the factors of a question, with its bound.
func (k kindForms) isLegal(q plan.Query) bool {
	plain := !slices.ContainsFunc(q.Factors, func(f plan.Factor) bool { return f.Basis != plan.Identity })
	return (k.anyBound || q.PerUnit == spec.PerUnit{}) && (k.anyFactor || plain) && (!k.noFactor || len(q.Factors) == 0)
}
