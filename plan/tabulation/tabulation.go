// Package tabulation finds the published tables that can be counted from the columns of microdata.
//
// It owns the columns by which each such table is counted: a table carries information on the columns that decide its
// attributes, and the microdata can be counted as the table is.
//
// It reads only a plan, and never sees a count.
package tabulation

import (
	"fmt"
	"slices"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/attributes"
	"github.com/dprelease/dprelease/plan/limit"
	"github.com/dprelease/dprelease/spec"
)

// Table is a published table whose counts carry information on the columns of microdata: for each of its attributes
// the column that decides it.
type Table struct {
	Table int // its index in the plan
	By    []Column
}

// Tables returns the tables of a release that carry information on microdata, in their order: all that count rows, show
// all cells of which there are not too many, and have no attribute that the columns do not decide.
func Tables(p *plan.Plan, s plan.Synthetic) []Table {
	var all []Table
	for i, t := range p.Tables {
		cumulative, _ := p.SummedAlong(t)
		if t.From != s.Table || t.Cells > limit.FittedCells || !t.UnfittedReason(cumulative != nil).IsZero() {
			continue
		}
		if by, err := decidedBy(p, s, t); err == nil && !hasColumnTwice(by) {
			all = append(all, Table{i, by})
		}
	}
	return all
}

// decidedBy finds for each attribute of a table the column of microdata that decides it. It returns an error if none
// does.
func decidedBy(p *plan.Plan, s plan.Synthetic, planned plan.Table) ([]Column, error) {
	t := p.Release().Table(s.Table)
	all := []Column{}
	for _, a := range attributes.CountedBy(t, planned.Attributes()) {
		level, _ := t.Column(a.Column).Domain.Level(a.Level)
		found := false
		for i, f := range s.By {
			if of, ok := attributes.CoarserCategories(t, spec.Attribute{Column: f.Attribute, Level: f.Level}, a); ok {
				all, found = append(all, Column{a.Level, i, of, level.Size()}), true
				break
			}
		}
		if !found {
			return nil, fmt.Errorf("the microdata of %s have no column that decides %s", s.Table, a)
		}
	}
	return all, nil
}

// hasColumnTwice reports whether two attributes are decided by one column.
func hasColumnTwice(by []Column) bool {
	for i, a := range by {
		if slices.ContainsFunc(by[:i], func(b Column) bool { return a.Column == b.Column }) {
			return true
		}
	}
	return false
}

// UnmeasuredColumns returns the columns of microdata on which no table of the release carries information.
func UnmeasuredColumns(p *plan.Plan, s plan.Synthetic) []plan.Factor {
	told := make([]bool, len(s.By))
	for _, e := range Tables(p, s) {
		for _, b := range e.By {
			told[b.Column] = true
		}
	}
	var left []plan.Factor
	for i, f := range s.By {
		if !told[i] {
			left = append(left, f)
		}
	}
	return left
}

// CoversAllPairs reports whether each two columns of microdata are together in such a table, category by category if
// the numbers of these are given.
func CoversAllPairs(p *plan.Plan, s plan.Synthetic, columns []int64) bool {
	together := map[[2]int]bool{}
	for _, e := range Tables(p, s) {
		for _, a := range e.By {
			for _, b := range e.By {
				if a.Column < b.Column && (columns == nil || int64(a.Categories) == columns[a.Column] &&
					int64(b.Categories) == columns[b.Column]) {
					together[[2]int{a.Column, b.Column}] = true
				}
			}
		}
	}
	n := len(s.By)
	return len(together) == n*(n-1)/2
}

// Columns says how a table is counted from microdata: for each of its attributes the column of the microdata that
// decides it, and the attribute's category for each of that column's. It returns an error if no column does.
func Columns(p *plan.Plan, confidential, path string) ([]Column, error) {
	at := slices.IndexFunc(p.Synthetic, func(s plan.Synthetic) bool { return s.Table == confidential })
	if at < 0 {
		return nil, fmt.Errorf("%s has no microdata", confidential)
	}
	if s := p.Synthetic[at]; s.Parent != "" {
		return nil, fmt.Errorf("the microdata of %s have as many rows as those of %s say, and not as its tables do",
			confidential, s.Parent)
	}
	planned, ok := p.TableOf(path)
	if !ok {
		return nil, fmt.Errorf("there is no table %s", path)
	}
	return decidedBy(p, p.Synthetic[at], planned)
}

// Column is a column of microdata, by index, with the category of an attribute that contains each of its categories.
type Column struct {
	Level      string // of the attribute
	Column     int
	CategoryOf []int
	Categories int
}
