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

// bounded is the place of the allowance of a query that counts the rows of a unit under its own bound, among the task's;
// 0 is the bound of the table alone.
func (t *task) bounded(asked plan.Query, q *query) (int, error) {
	u := asked.PerUnit
	if u.Groups < 0 || u.RowsPerGroup < 0 || u.Total < 0 {
		return 0, errors.New("bounds a unit by less than nothing")
	}
	var groups []int
	for i, f := range asked.Factors {
		if f.Basis == plan.Identity {
			groups = append(groups, q.attributes[i])
		}
	}
	return t.capped(bounding.Caps{Rows: capOf(u.Total), Groups: capOf(u.Groups), PerGroup: capOf(u.RowsPerGroup)}, groups)
}

// mostRows is how many rows of a unit the bound of the table keeps.
func (t *task) mostRows() uint64 { return uint64(max(t.table.Unit.MaxRows, 0)) }

// capped is the place of an allowance of these caps among the task's; 0 where they are no tighter than the table's bound.
func (t *task) capped(c bounding.Caps, groups []int) (int, error) {
	if min(c.Rows, c.Groups, c.PerGroup) >= t.mostRows() {
		return 0, nil
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
