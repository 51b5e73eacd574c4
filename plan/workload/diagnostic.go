package workload

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/plan/selection"
	"github.com/dprelease/dprelease/plan/statistic"
	"github.com/dprelease/dprelease/spec"
)

// This file holds the diagnostics: tables of what bounds and policies leave out, if the spec asks for them.

// diagnosis is a diagnostic of a table while it is planned.
type diagnosis struct {
	name    string // of its table
	words   string // what is counted, in words
	counted counted.Counted
}

// diagnoses returns what the release pays to know of its rows: for each confidential table how many units have more
// rows than are counted and how many rows that is, how many rows policies leave out, and how many values of each
// column that figures use lie beyond its range.
func diagnoses(r *spec.Release, t *spec.Table) []diagnosis {
	var all []diagnosis
	if !t.Unit.Row {
		all = append(all,
			diagnosis{name: "units_over_bound", words: fmt.Sprintf("units with more than %s",
				budget.Plural(t.Unit.MaxRows, "row")), counted: counted.UnitsOver},
			diagnosis{name: "rows_over_bound",
				words: fmt.Sprintf("rows that are not counted as their unit has more than %s, of each unit %[1]s at most",
					budget.Plural(t.Unit.MaxRows, "row")), counted: counted.RowsOver})
	}
	drops := slices.ContainsFunc(t.Columns, func(c *spec.Column) bool {
		return c.Unknown.Action == spec.Drop ||
			c.Null.Action == spec.Drop
	})
	drops = drops || DropsUnweighted(t) ||
		slices.ContainsFunc(r.Impossible, func(e spec.Impossible) bool { return e.Table == t.Name && e.Drop })
	var why []string
	if drops {
		why = append(why, "that a policy leaves out")
	}
	if parent := r.ParentOf(t.Name); parent != "" {
		why = append(why, "whose unit has no row in "+parent)
	}
	if why != nil {
		all = append(all, diagnosis{name: "rows_left_out", words: fmt.Sprintf("rows %s, of each unit %s at most",
			strings.Join(why, " or "), budget.Plural(t.Unit.MaxRows, "row")), counted: counted.RowsLeftOut})
	}
	for _, c := range t.Columns {
		if slices.ContainsFunc(r.Marginals, func(m spec.Marginal) bool {
			return m.Table == t.Name &&
				usesValues(m, c.Name)
		}) {
			all = append(all, diagnosis{name: c.Name + "_clamped", words: "rows whose " + c.Name +
				" lies beyond its range and counts as its end", counted: counted.Values{Column: c.Name, Beyond: true}})
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
