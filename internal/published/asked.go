package published

// This file holds what a publication requests of microdata that differs from the plan: the number of rows, and the
// method.

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

// RequestedRows maps tables of microdata to requested numbers of rows; the other tables have the plan's number. The
// numbers are public and no function of the data: whatever they are, the rows are drawn from the same measurements.
type RequestedRows map[string]int64

// MostRows is the greatest number of rows, as in the spec.
const MostRows = 1_000_000_000

// String returns the request in the form of flags.
func (r RequestedRows) String() string {
	return flagText("--rows", r, "as many rows of microdata as the plan says")
}

// RequestedMethods maps tables of microdata to requested methods; the other tables have the plan's method.
type RequestedMethods map[string]string

// String returns the request in the form of flags.
func (r RequestedMethods) String() string { return flagText("--method", r, "the method of the plan") }

// flagText returns a request by table in the form of flags, none if it is empty.
func flagText[V any](flag string, asked map[string]V, none string) string {
	if len(asked) == 0 {
		return none
	}
	var all []string
	for _, table := range slices.Sorted(maps.Keys(asked)) {
		all = append(all, fmt.Sprintf("%s %s=%v", flag, table, asked[table]))
	}
	return strings.Join(all, " ")
}

// flagRequest is a flag that requests something for the microdata of a table, as VALUE or TABLE=VALUE.
type flagRequest struct {
	flag string // as "--rows"
	what string // its meaning, as "how many rows to draw"
}

// unusable returns an error about a value of the flag.
func (a flagRequest) unusable(text, format string, args ...any) error {
	return &verdict.Unusable{File: a.flag + " " + text, Err: fmt.Errorf(format, args...)}
}

// parseFlag returns the table of a flag's value and what is requested for it. The function seen reports whether an
// earlier flag named the table.
func (a flagRequest) parseFlag(p *compiled.Compiled, text string, seen func(table string) bool) (s plan.Synthetic,
	value string,
	err error) {
	var tables []string
	for _, s := range p.Synthetic {
		tables = append(tables, s.Table)
	}
	table, value, named := strings.Cut(text, "=")
	switch {
	case len(tables) == 0:
		return s, "", a.unusable(text, "release %s has no microdata whose rows could be drawn again: leave %s out",
			p.Name,
			a.flag)
	case !named && len(tables) > 1:
		return s, "", a.unusable(text, "the release has microdata of several tables (%s): write %s %s=%s",
			strings.Join(tables, ", "), a.flag, tables[0], text)
	case !named:
		table, value = tables[0], text
	}
	at := slices.Index(tables, table)
	switch {
	case at < 0:
		return s, "", a.unusable(text, "there are no microdata of a table %q: write one of %s", table,
			strings.Join(tables, ", "))
	case isTabulated(p, table):
		return s, "", a.unusable(text,
			"the tables of %s are counted from its microdata, so other rows would change them: leave %s out", table,
			a.flag)
	case seen(table):
		return s, "", a.unusable(text, "says a second time %s of %s: leave one of them out", a.what, table)
	}
	return p.Synthetic[at], value, nil
}

// ParseMethods parses methods, written METHOD or TABLE=METHOD. It returns nil if they are the plan's. Errors:
// *[verdict.Unusable].
func ParseMethods(p *compiled.Compiled, flags []string) (RequestedMethods, error) {
	asked, a := RequestedMethods{}, flagRequest{"--method", "by which method to make the microdata"}
	for _, flag := range flags {
		s, method, err := a.parseFlag(p, flag, func(table string) bool { return asked[table] != "" })
		if err != nil {
			return nil, err
		}
		if err := s.Refits(method); err != nil {
			return nil, a.unusable(flag, "the microdata of %s: %v", s.Table, err)
		}
		asked[s.Table] = method
	}
	return withoutPlanned(p, asked, func(s plan.Synthetic) string { return s.Method }), nil
}

// withoutPlanned removes from a request by table what the plan has anyway. It returns nil if nothing is left.
func withoutPlanned[V comparable](p *compiled.Compiled, asked map[string]V,
	planned func(plan.Synthetic) V) map[string]V {
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

// ParseRows parses numbers of rows, written N or TABLE=N. It returns nil if they are the plan's. Errors:
// *[verdict.Unusable].
func ParseRows(p *compiled.Compiled, flags []string) (RequestedRows, error) {
	asked, a := RequestedRows{}, flagRequest{"--rows", "how many rows to draw"}
	for _, flag := range flags {
		s, number, err := a.parseFlag(p, flag, func(table string) bool { return asked[table] != 0 })
		if err != nil {
			return nil, err
		}
		if s.Parent != "" {
			return nil, a.unusable(flag,
				"there are as many rows of %[1]s as the rows of %[2]s say: leave that out, and ask for rows of %[2]s "+
					"by --rows %[2]s=N", s.Table, s.Parent)
		}
		n, err := strconv.ParseInt(number, 10, 64)
		if err != nil || n < 1 || n > MostRows {
			return nil, a.unusable(flag, "expected a whole number of rows from 1 to %s", budget.Group(MostRows))
		}
		asked[s.Table] = n
	}
	return withoutPlanned(p, asked, func(s plan.Synthetic) int64 { return s.Rows }), nil
}

// isTabulated reports whether published tables are counted from the microdata of a table.
func isTabulated(p *compiled.Compiled, table string) bool {
	return slices.ContainsFunc(p.Consistent, func(c plan.Consistency) bool {
		return c.Table == table &&
			c.Way == plan.Tabulated
	})
}

// Validate returns an error unless a manifest could have these numbers, whatever its plan.
func (r RequestedRows) Validate() error {
	for table, n := range r {
		if table == "" || len(table) > 100 || strings.ContainsFunc(table, isUnprintable) || n < 1 || n > MostRows {
			return errors.New("asks for rows of microdata of no table or number that there could be")
		}
	}
	return nil
}

// Fits returns an error unless a publication of the plan can request these numbers.
func (r RequestedRows) Fits(p *compiled.Compiled) error {
	for table, n := range r {
		i := slices.IndexFunc(p.Synthetic, func(s plan.Synthetic) bool { return s.Table == table })
		if i < 0 || p.Synthetic[i].Rows == n || p.Synthetic[i].Parent != "" || isTabulated(p, table) {
			return errors.New("asks for rows of microdata that the plan does not have, as many as it has, or others " +
				"than its tables are counted from")
		}
	}
	return nil
}

// Validate returns an error unless a manifest could have these methods, whatever its plan.
func (r RequestedMethods) Validate() error {
	for table, method := range r {
		if table == "" || len(table) > 100 || strings.ContainsFunc(table, isUnprintable) ||
			!slices.Contains([]string{plan.MST, plan.AIM, plan.Tables}, method) {
			return errors.New("asks for microdata of no table or method that there could be")
		}
	}
	return nil
}

// Fits returns an error unless a publication of the plan can request these methods.
func (r RequestedMethods) Fits(p *compiled.Compiled) error {
	for table, method := range r {
		i := slices.IndexFunc(p.Synthetic, func(s plan.Synthetic) bool { return s.Table == table })
		if i < 0 || p.Synthetic[i].Method == method || p.Synthetic[i].Refits(method) != nil || isTabulated(p, table) {
			return errors.New("asks for microdata that the plan does not have, by a method that it has or that " +
				"nothing was measured for, or others than its tables are counted from")
		}
	}
	return nil
}
