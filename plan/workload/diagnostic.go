package workload

import (
	"math/big"
	"slices"

	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/plan/phrase"
	"github.com/dprelease/dprelease/plan/selection"
	"github.com/dprelease/dprelease/plan/statistic"
	"github.com/dprelease/dprelease/spec"
)

// This file holds the diagnostics: tables of what bounds and policies leave out, if the spec asks for them.

// diagnosis is a diagnostic of a table while it is planned.
type diagnosis struct {
	name    string        // of its table
	words   phrase.Phrase // what is counted
	counted counted.Counted
}

// diagnoses returns what the release pays to know of its rows: for each confidential table how many units have more
// rows than are counted and how many rows that is, how many rows policies leave out, and how many values of each
// column that figures use lie beyond its range.
func diagnoses(r *spec.Release, t *spec.Table) []diagnosis {
	var all []diagnosis
	if !t.Unit.Row {
		all = append(all,
			diagnosis{name: "units_over_bound", words: phrase.New(phrase.UnitsOverBound, t.Unit.MaxRows),
				counted: counted.UnitsOver},
			diagnosis{name: "rows_over_bound", words: phrase.New(phrase.RowsOverBound, t.Unit.MaxRows),
				counted: counted.RowsOver})
	}
	drops := slices.ContainsFunc(t.Columns, func(c *spec.Column) bool {
		return c.Unknown.Action == spec.Drop ||
			c.Null.Action == spec.Drop
	})
	drops = drops || t.DropsUnweighted() ||
		slices.ContainsFunc(r.Impossible, func(e spec.Impossible) bool { return e.Table == t.Name && e.Drop })
	var excluded phrase.Phrase
	switch parent := r.ParentOf(t.Name); {
	case drops && parent != "":
		excluded = phrase.New(phrase.RowsExcluded, t.Unit.MaxRows, parent)
	case drops:
		excluded = phrase.New(phrase.RowsLeftOut, t.Unit.MaxRows)
	case parent != "":
		excluded = phrase.New(phrase.RowsWithoutParent, t.Unit.MaxRows, parent)
	}
	if !excluded.IsZero() {
		all = append(all, diagnosis{name: "rows_left_out", words: excluded, counted: counted.RowsLeftOut})
	}
	for _, c := range t.Columns {
		if slices.ContainsFunc(r.Marginals, func(m spec.Marginal) bool {
			return m.Table == t.Name &&
				usesValues(m, c.Name)
		}) {
			all = append(all, diagnosis{name: c.Name + "_clamped", words: phrase.New(phrase.ClampedRows, c.Name),
				counted: counted.Values{Column: c.Name, Beyond: true}})
		}
	}
	return all
}

// usesValues reports whether figures of a marginal use values of a column.
func usesValues(m spec.Marginal, column string) bool {
	return slices.ContainsFunc(m.Stats, func(s spec.Stat) bool {
		return statistic.Of(s.Kind).Clamped() && s.Column == column || s.Of.Column == column || s.Over.Column == column
	})
}

// diagnosticTables returns the tables of what a release pays to know of its rows, of one cell each. Their indices
// start with the given one.
func diagnosticTables(r *spec.Release, index, leaf int) []*Table {
	var all []*Table
	if r.Diagnostics == "" {
		return nil
	}
	for _, t := range r.Tables {
		marginal := &spec.Marginal{Name: r.Diagnostics, Table: t.Name, Leaf: r.Diagnostics, Weight: big.NewRat(1, 1)}
		for _, d := range diagnoses(r, t) {
			all = append(all, &Table{Index: index + len(all), Path: r.Diagnostics + "/" + t.Name + "/" + d.name,
				Marginal: marginal, Leaf: leaf, Weight: 1, Cells: 1, words: d.words, Counted: d.counted,
				Selection: selection.All{}})
		}
	}
	return all
}
