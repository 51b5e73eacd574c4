package workload

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/attributes"
	"github.com/dprelease/dprelease/spec"
)

// This file finds the tables that determine a regression: one for each pair of its columns.

// TablesOfPairs returns the path of the first table that counts all rows of a confidential table by both columns of a
// pair, each at its level or at a finer one, for each pair of some columns in the order (0, 1), (0, 2), …, (1, 2), ….
// It returns a [*Fault] with the pairs that have no table, and for two columns that are counted by one.
func TablesOfPairs(r *spec.Release, tables []*Table, from string, columns []plan.Factor) ([]string, error) {
	var found, missing []string
	for a, x := range columns {
		for _, y := range columns[a+1:] {
			if x.Attribute == y.Attribute {
				return nil, &Fault{Key: "from",
					Message:  fmt.Sprintf("%s and %s are made of one column, and no table has both", x, y),
					Expected: "columns of which none is made of another, or a leaf of the budget in place of `from`"}
			}
			i := slices.IndexFunc(TablesOf(tables, from), func(t *Table) bool {
				return !t.CountsOtherThanRows() && !t.SomeCells() && t.decides(r, x) && t.decides(r, y)
			})
			if i < 0 {
				missing = append(missing, fmt.Sprintf("%s × %s", x, y))
				continue
			}
			found = append(found, TablesOf(tables, from)[i].Path)
		}
	}
	if missing != nil {
		return nil, &Fault{Key: "from",
			Message:  "no table has these pairs of its columns: " + strings.Join(missing, ", "),
			Expected: "a table of each, such as every: [2] with these columns under `by`"}
	}
	return found, nil
}

// decides reports whether a row's cell decides the category of a factor.
func (t *Table) decides(r *spec.Release, f plan.Factor) bool {
	_, _, ok := attributes.Deciding(r.Table(t.Marginal.Table), t.CountedBy,
		spec.Attribute{Column: f.Attribute, Level: f.Level})
	return ok
}
