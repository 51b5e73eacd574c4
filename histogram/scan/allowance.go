package scan

// This file holds the allowance: how many of a unit's rows a query counts, where that is less than its table keeps.

import (
	"errors"
	"fmt"
	"slices"

	"github.com/dprelease/dprelease/histogram/internal/bounding"
	"github.com/dprelease/dprelease/plan"
)

// allowance is a bound on the rows of one unit that queries count, of those that the bound of their table keeps. Which
// of them stay is chosen under a key of its own, by the definition.
type allowance struct {
	definition string
	caps       bounding.Caps
	groups     []int // attributes of the task, whose cells are the groups
	hears      hearing
}

// hearing says which rows an allowance chooses among.
type hearing int

const (
	keptRows    hearing = iota // those that the bound of the table keeps
	countedRows                // those that are not left out
	leftRows                   // those that are
)

// allowance is the place of a query's allowance among the task's; 0 is the bound of the table alone.
func (t *task) allowance(asked plan.Query, q *query) (int, error) {
	c, groups := bounding.Uncapped(), []int(nil)
	switch {
	case asked.Distinct != nil:
		if asked.Distinct.PerUnit < 1 {
			return 0, errors.New("counts no values of any unit")
		}
		c.Groups, groups = uint64(asked.Distinct.PerUnit), q.attributes
	case asked.PerUnit != nil:
		u := asked.PerUnit
		if u.Groups < 0 || u.RowsPerGroup < 0 || u.Total < 0 {
			return 0, errors.New("bounds a unit by less than nothing")
		}
		c = bounding.Caps{Rows: capOf(u.Total), Groups: capOf(u.Groups), PerGroup: capOf(u.RowsPerGroup)}
		for i, f := range asked.Factors {
			if f.Basis == plan.Identity {
				groups = append(groups, q.attributes[i])
			}
		}
	}
	if most := uint64(max(t.table.Unit.MaxRows, 0)); min(c.Rows, c.Groups, c.PerGroup) >= most {
		return 0, nil
	}
	if asked.Distinct != nil {
		c.PerGroup = 1 // a second row of a pair says nothing
	}
	if !c.Grouped() {
		groups = nil
	}
	a := allowance{caps: c, groups: groups, definition: fmt.Sprintf("%d rows, %d groups, %d of one", c.Rows, c.Groups,
		c.PerGroup)}
	for _, g := range groups {
		a.definition += fmt.Sprintf(" %q", t.nameOf(t.attributes[g]))
	}
	return t.allow(a), nil
}

// allow is the place of an allowance among the task's, which it is added to where it is not there.
func (t *task) allow(a allowance) int {
	if i := slices.IndexFunc(t.allowances, func(x allowance) bool { return x.definition == a.definition }); i >= 0 {
		return i
	}
	t.allowances = append(t.allowances, a)
	return len(t.allowances) - 1
}

// capOf is a cap as a spec has it, 0 for none.
func capOf(most int64) uint64 {
	if most == 0 {
		return bounding.NoCap
	}
	return uint64(most)
}

// nameOf is the column and the level of an attribute, or that it is the column's values.
func (t *task) nameOf(a attribute) [2]string {
	if a.level == nil {
		return [2]string{t.columns[a.column].column.Name, "#"}
	}
	return [2]string{t.columns[a.column].column.Name, "." + a.level.Name}
}
