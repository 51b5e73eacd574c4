package plan

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/spec"
)

// This file holds the diagnostic: what a query counts of the rows that bounds and policies leave out, so that a report can
// speak of bias. How many values of a column are clamped is a sum of values ([Value.Beyond]).

// Diagnostic names a count of one cell, of a query without factors. Of each unit it is between 0 and what is said here, a
// function of that unit's rows alone: so that is how far a unit can move it, under both neighbouring relations, in L1 and L2.
type Diagnostic string

// The diagnostics, with k for the max_rows of the table.
const (
	// UnitsOver counts units of which more than k rows could be counted: 1 at most.
	UnitsOver Diagnostic = "units over"
	// RowsOver counts the rows that are not counted for that, of each unit at most k.
	RowsOver Diagnostic = "rows over"
	// RowsLeftOut counts the rows that a policy, an entry of `impossible` or a missing parent row leaves out, of each unit at
	// most k; those without an id, which are of no unit, are not among them.
	RowsLeftOut Diagnostic = "rows left out"
)

// diagnosis is a diagnostic of a table on its way through the planner.
type diagnosis struct {
	name string // of its table
	says string // what is counted, in words
	asks Diagnostic
	over *spec.Column // whose values are clamped, where that is counted
}

// diagnoses are what the release pays to know of its rows: of each confidential table how many units have more rows than are
// counted and how many rows those are, how many rows policies leave out, and how many values of each column that figures are of
// lie beyond their range.
func diagnoses(r *spec.Release, t *spec.Table) []diagnosis {
	var all []diagnosis
	if !t.Unit.Row {
		all = append(all,
			diagnosis{name: "units_over_bound", says: fmt.Sprintf("units with more than %s", budget.Plural(t.Unit.MaxRows, "row")), asks: UnitsOver},
			diagnosis{name: "rows_over_bound", says: fmt.Sprintf("rows that are not counted as their unit has more than %s, of each unit %[1]s at most", budget.Plural(t.Unit.MaxRows, "row")), asks: RowsOver})
	}
	drops := slices.ContainsFunc(t.Columns, func(c *spec.Column) bool { return c.Unknown.Action == spec.Drop || c.Null.Action == spec.Drop })
	drops = drops || t.Weight != nil && t.Weight.Null == spec.Drop || slices.ContainsFunc(r.Impossible, func(e spec.Impossible) bool { return e.Table == t.Name && e.Drop })
	var why []string
	if drops {
		why = append(why, "that a policy leaves out")
	}
	if parent := r.ParentOf(t.Name); parent != "" {
		why = append(why, "whose unit has no row in "+parent)
	}
	if why != nil {
		all = append(all, diagnosis{name: "rows_left_out", says: fmt.Sprintf("rows %s, of each unit %s at most", strings.Join(why, " or "), budget.Plural(t.Unit.MaxRows, "row")), asks: RowsLeftOut})
	}
	for _, c := range t.Columns {
		if slices.ContainsFunc(r.Marginals, func(m spec.Marginal) bool { return m.Table == t.Name && usesValues(m, c.Name) }) {
			all = append(all, diagnosis{name: c.Name + "_clamped", says: "rows whose " + c.Name + " lies beyond its range and counts as its end", over: c})
		}
	}
	return all
}

// usesValues tells that figures of a marginal are of values of a column.
func usesValues(m spec.Marginal, column string) bool {
	return slices.ContainsFunc(m.Stats, func(s spec.Stat) bool {
		return s.Kind != spec.Distinct && s.Column == column || s.Of.Column == column || s.Over.Column == column
	})
}

// diagnosed are the tables of what a release pays to know of its rows, of one cell each, from a place among its tables on.
func diagnosed(r *spec.Release, place, leaf int) []*table {
	var all []*table
	if r.Diagnostics == "" {
		return nil
	}
	for _, t := range r.Tables {
		marginal := &spec.Marginal{Name: r.Diagnostics, Table: t.Name, Leaf: r.Diagnostics, Weight: big.NewRat(1, 1)}
		for _, d := range diagnoses(r, t) {
			one := &table{place: place + len(all), path: r.Diagnostics + "/" + t.Name + "/" + d.name, marginal: marginal, leaf: leaf, weight: 1, cells: 1, says: d.says, diagnostic: d.asks}
			if d.over != nil {
				one.value = &Value{Column: d.over.Name, Beyond: true}
			}
			all = append(all, one)
		}
	}
	return all
}
