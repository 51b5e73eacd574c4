package release

// This file holds how many rows of microdata a publication asks for, where that is not the number that the plan leads to.

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
)

// redrawn are numbers of rows by the tables of microdata; those of other tables are the plan's. They are public and no
// function of the data: with any of them the rows are drawn from the same measurements.
type redrawn map[string]int64

// mostRedrawn bounds a number of rows, as the spec does.
const mostRedrawn = 1_000_000_000

// String is redrawn as flags say it.
func (r redrawn) String() string {
	if len(r) == 0 {
		return "as many rows of microdata as the plan says"
	}
	var all []string
	for _, table := range slices.Sorted(maps.Keys(r)) {
		all = append(all, fmt.Sprintf("--rows %s=%d", table, r[table]))
	}
	return strings.Join(all, " ")
}

// rowsAsked reads numbers of rows, written N or TABLE=N; nil where they are those of the plan. Errors: *[SpecError].
func rowsAsked(p *plan.Plan, flags []string) (redrawn, error) {
	refuse := func(flag, format string, args ...any) error {
		return &SpecError{File: "--rows " + flag, Err: fmt.Errorf(format, args...)}
	}
	var tables []string
	for _, s := range p.Synthetic {
		tables = append(tables, s.Table)
	}
	asked := redrawn{}
	for _, flag := range flags {
		table, number, named := strings.Cut(flag, "=")
		switch {
		case len(tables) == 0:
			return nil, refuse(flag, "release %s has no microdata whose rows could be drawn again: leave --rows out", p.Name)
		case !named && len(tables) > 1:
			return nil, refuse(flag, "the release has microdata of several tables (%s): write --rows %s=%s", strings.Join(tables, ", "), tables[0], flag)
		case !named:
			table, number = tables[0], flag
		case !slices.Contains(tables, table):
			return nil, refuse(flag, "there are no microdata of a table %q: write one of %s", table, strings.Join(tables, ", "))
		case parentOf(p, table) != "":
			return nil, refuse(flag, "there are as many rows of %[1]s as the rows of %[2]s say: write --rows %[2]s=%[3]s", table, parentOf(p, table), number)
		case tabulated(p, table):
			return nil, refuse(flag, "the counts of tables of %s are those of its microdata and would change with the number of rows: leave --rows out", table)
		}
		if _, twice := asked[table]; twice {
			return nil, refuse(flag, "says a second time how many rows of %s to draw: leave one of them out", table)
		}
		n, err := strconv.ParseInt(number, 10, 64)
		if err != nil || n < 1 || n > mostRedrawn {
			return nil, refuse(flag, "expected a whole number of rows from 1 to %s", budget.Group(mostRedrawn))
		}
		asked[table] = n
	}
	for _, s := range p.Synthetic {
		if s.Rows > 0 && asked[s.Table] == s.Rows {
			delete(asked, s.Table) // nothing differs
		}
	}
	if len(asked) == 0 {
		return nil, nil
	}
	return asked, nil
}

// tabulated tells that published tables are counted from the microdata of a table.
func tabulated(p *plan.Plan, table string) bool {
	return slices.ContainsFunc(p.Consistent, func(c plan.Consistency) bool { return c.Table == table && c.Way == plan.Tabulated })
}

// parentOf is the table whose rows say how many rows of microdata there are, "" where none do.
func parentOf(p *plan.Plan, table string) string {
	i := slices.IndexFunc(p.Synthetic, func(s plan.Synthetic) bool { return s.Table == table })
	return p.Synthetic[i].Parent
}

// formed returns an error unless a manifest could have these numbers, whatever its plan.
func (r redrawn) formed() error {
	for table, n := range r {
		if table == "" || len(table) > 100 || strings.ContainsFunc(table, unseen) || n < 1 || n > mostRedrawn {
			return errors.New("asks for rows of microdata of no table or number that there could be")
		}
	}
	return nil
}

// of returns an error unless a publication of the plan asks for these numbers.
func (r redrawn) of(p *plan.Plan) error {
	for table, n := range r {
		i := slices.IndexFunc(p.Synthetic, func(s plan.Synthetic) bool { return s.Table == table })
		if i < 0 || p.Synthetic[i].Rows == n || p.Synthetic[i].Parent != "" || tabulated(p, table) {
			return errors.New("asks for rows of microdata that the plan does not have, as many as it has, or others than its tables are counted from")
		}
	}
	return nil
}
