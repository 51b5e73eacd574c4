package scan

// This file holds the allowance: how many of a unit's rows a query counts, if that is fewer than its table keeps.

import (
	"errors"
	"fmt"
	"slices"

	"github.com/dprelease/dprelease/histogram/internal/bounding"
	"github.com/dprelease/dprelease/plan"
)

// allowance is a bound on the rows of one unit that queries count, among the rows that the bound of their table
// keeps. The rows that stay are chosen under a key of their own, which the definition selects.
type allowance struct {
	definition string
	caps       bounding.Caps
	groups     []int // indexes of the task's attributes whose cells are the groups
	eligible   eligibleRows
}

// eligibleRows is the set of rows among which an allowance chooses.
type eligibleRows int

const (
	keptRows    eligibleRows = iota // rows that the bound of the table keeps
	countedRows                     // rows that are not left out
	leftOutRows                     // rows that are left out
)

// allowanceOfQuery returns the index, among the task's allowances, of the allowance of a query with its own bound on
// the rows of a unit. Index 0 is the bound of the table alone.
func (t *task) allowanceOfQuery(asked plan.Query, q *query) (int, error) {
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
	return t.allowanceOfCaps(
		bounding.Caps{Rows: capOf(u.Total), Groups: capOf(u.Groups), PerGroup: capOf(u.RowsPerGroup)}, groups)
}

// maxRows returns how many rows of a unit the bound of the table keeps.
func (t *task) maxRows() uint64 { return uint64(max(t.table.Unit.MaxRows, 0)) }

// allowanceOfCaps returns the index of an allowance with these caps among the task's allowances. It is 0 if the caps
// are no tighter than the table's bound.
func (t *task) allowanceOfCaps(c bounding.Caps, groups []int) (int, error) {
	if min(c.Rows, c.Groups, c.PerGroup) >= t.maxRows() {
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
	return t.addAllowance(a), nil
}

// addAllowance returns the index of an allowance among the task's allowances, and adds the allowance if it is new.
func (t *task) addAllowance(a allowance) int {
	if i := slices.IndexFunc(t.allowances, func(x allowance) bool { return x.definition == a.definition }); i >= 0 {
		return i
	}
	t.allowances = append(t.allowances, a)
	return len(t.allowances) - 1
}

// capOf returns a cap as bounding takes it. In a spec, 0 means no cap.
func capOf(most int64) uint64 {
	if most == 0 {
		return bounding.NoCap
	}
	return uint64(most)
}

// nameOf returns the column of an attribute and its level, or "#" if the attribute is the values of the column.
func (t *task) nameOf(a attribute) [2]string {
	if a.level == nil {
		return [2]string{t.columns[a.column].column.Name, "#"}
	}
	return [2]string{t.columns[a.column].column.Name, "." + a.level.Name}
}
