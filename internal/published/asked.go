package published

// This file holds what a publication asks of microdata, where that is not what the plan leads to: how many rows, and by
// which method.

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/internal/verdict"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
)

// RowsAsked are numbers of rows by the tables of microdata; those of other tables are the plan's. They are public and
// no function of the data: with any of them the rows are drawn from the same measurements.
type RowsAsked map[string]int64

// MostRows bounds a number of rows, as the spec does.
const MostRows = 1_000_000_000

// String returns the numbers as flags say it.
func (r RowsAsked) String() string {
	return inFlags("--rows", r, "as many rows of microdata as the plan says")
}

// MethodsAsked are methods by the tables of microdata; those of other tables are the plan's.
type MethodsAsked map[string]string

// String returns the methods as flags say it.
func (r MethodsAsked) String() string { return inFlags("--method", r, "the method of the plan") }

// inFlags is what was asked for by table as flags say it, or none where nothing was.
func inFlags[V any](flag string, asked map[string]V, none string) string {
	if len(asked) == 0 {
		return none
	}
	var all []string
	for _, table := range slices.Sorted(maps.Keys(asked)) {
		all = append(all, fmt.Sprintf("%s %s=%v", flag, table, asked[table]))
	}
	return strings.Join(all, " ")
}

// asking is a flag that asks something of the microdata of a table, as VALUE or TABLE=VALUE.
type asking struct {
	flag string // as "--rows"
	what string // that it says, as "how many rows to draw"
}

// refuse is the error about a flag.
func (a asking) refuse(text, format string, args ...any) error {
	return &verdict.Unusable{File: a.flag + " " + text, Err: fmt.Errorf(format, args...)}
}

// of finds the table of a flag and what it asks; seen are the tables of those before.
func (a asking) of(p *compiled.Compiled, text string, seen func(table string) bool) (s plan.Synthetic, value string,
	err error) {
	var tables []string
	for _, s := range p.Synthetic {
		tables = append(tables, s.Table)
	}
	table, value, named := strings.Cut(text, "=")
	switch {
	case len(tables) == 0:
		return s, "", a.refuse(text, "release %s has no microdata whose rows could be drawn again: leave %s out", p.Name,
			a.flag)
	case !named && len(tables) > 1:
		return s, "", a.refuse(text, "the release has microdata of several tables (%s): write %s %s=%s",
			strings.Join(tables, ", "), a.flag, tables[0], text)
	case !named:
		table, value = tables[0], text
	}
	at := slices.Index(tables, table)
	switch {
	case at < 0:
		return s, "", a.refuse(text, "there are no microdata of a table %q: write one of %s", table,
			strings.Join(tables, ", "))
	case tabulated(p, table):
		return s, "", a.refuse(text,
			"the counts of tables of %s are those of its microdata and would change with its rows: leave %s out", table, a.flag)
	case seen(table):
		return s, "", a.refuse(text, "says a second time %s of %s: leave one of them out", a.what, table)
	}
	return p.Synthetic[at], value, nil
}

// ParseMethods reads methods, written METHOD or TABLE=METHOD; nil where they are those of the plan. Errors:
// *[verdict.Unusable].
func ParseMethods(p *compiled.Compiled, flags []string) (MethodsAsked, error) {
	asked, a := MethodsAsked{}, asking{"--method", "by which method to make the microdata"}
	for _, flag := range flags {
		s, method, err := a.of(p, flag, func(table string) bool { return asked[table] != "" })
		if err != nil {
			return nil, err
		}
		if err := s.Refits(method); err != nil {
			return nil, a.refuse(flag, "the microdata of %s: %v", s.Table, err)
		}
		asked[s.Table] = method
	}
	return unplanned(p, asked, func(s plan.Synthetic) string { return s.Method }), nil
}

// unplanned is what differs from the plan of what was asked for by table, nil for nothing.
func unplanned[V comparable](p *compiled.Compiled, asked map[string]V, planned func(plan.Synthetic) V) map[string]V {
	for _, s := range p.Synthetic {
		if asked[s.Table] == planned(s) {
			delete(asked, s.Table)
		}
	}
	if len(asked) == 0 {
		return nil
	}
	return asked
}

// ParseRows reads numbers of rows, written N or TABLE=N; nil where they are those of the plan. Errors:
// *[verdict.Unusable].
func ParseRows(p *compiled.Compiled, flags []string) (RowsAsked, error) {
	asked, a := RowsAsked{}, asking{"--rows", "how many rows to draw"}
	for _, flag := range flags {
		s, number, err := a.of(p, flag, func(table string) bool { return asked[table] != 0 })
		if err != nil {
			return nil, err
		}
		if s.Parent != "" {
			return nil, a.refuse(flag,
				"there are as many rows of %[1]s as the rows of %[2]s say: leave that out, and ask for rows of %[2]s by --rows %[2]s=N", s.Table, s.Parent)
		}
		n, err := strconv.ParseInt(number, 10, 64)
		if err != nil || n < 1 || n > MostRows {
			return nil, a.refuse(flag, "expected a whole number of rows from 1 to %s", budget.Group(MostRows))
		}
		asked[s.Table] = n
	}
	return unplanned(p, asked, func(s plan.Synthetic) int64 { return s.Rows }), nil
}

// tabulated reports whether published tables are counted from the microdata of a table.
func tabulated(p *compiled.Compiled, table string) bool {
	return slices.ContainsFunc(p.Consistent, func(c plan.Consistency) bool {
		return c.Table == table &&
			c.Way == plan.Tabulated
	})
}

// Validate returns an error unless a manifest could have these numbers, whatever its plan.
func (r RowsAsked) Validate() error {
	for table, n := range r {
		if table == "" || len(table) > 100 || strings.ContainsFunc(table, unseen) || n < 1 || n > MostRows {
			return errors.New("asks for rows of microdata of no table or number that there could be")
		}
	}
	return nil
}

// Fits returns an error unless a publication of the plan asks for these numbers.
func (r RowsAsked) Fits(p *compiled.Compiled) error {
	for table, n := range r {
		i := slices.IndexFunc(p.Synthetic, func(s plan.Synthetic) bool { return s.Table == table })
		if i < 0 || p.Synthetic[i].Rows == n || p.Synthetic[i].Parent != "" || tabulated(p, table) {
			return errors.New("asks for rows of microdata that the plan does not have, as many as it has, or others than its tables are counted from")
		}
	}
	return nil
}

// Validate returns an error unless a manifest could have these methods, whatever its plan.
func (r MethodsAsked) Validate() error {
	for table, method := range r {
		if table == "" || len(table) > 100 || strings.ContainsFunc(table, unseen) ||
			!slices.Contains([]string{plan.MST, plan.AIM, plan.Tables}, method) {
			return errors.New("asks for microdata of no table or method that there could be")
		}
	}
	return nil
}

// Fits returns an error unless a publication of the plan asks for these methods.
func (r MethodsAsked) Fits(p *compiled.Compiled) error {
	for table, method := range r {
		i := slices.IndexFunc(p.Synthetic, func(s plan.Synthetic) bool { return s.Table == table })
		if i < 0 || p.Synthetic[i].Method == method || p.Synthetic[i].Refits(method) != nil || tabulated(p, table) {
			return errors.New("asks for microdata that the plan does not have, by a method that it has or that nothing was measured for, or others than its tables are counted from")
		}
	}
	return nil
}
