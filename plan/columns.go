package plan

import (
	"cmp"
	"slices"

	"github.com/dprelease/dprelease/plan/residual"
	"github.com/dprelease/dprelease/spec"
)

// This file holds the columns as the strategy of residuals sees them: levels that lie within each other, in chains.

// chains are the columns of one confidential table, each with the levels that the release's tables use. Levels of a
// column that do not lie within each other are columns of their own.
type chains struct {
	columns []*residual.Column
	names   [][]string // of the levels of each, coarsest first
	source  []string   // the column of the table that each is of
	of      map[spec.Attribute]residual.Axis
}

// newChains builds the chains of the attributes of some tables, which are of one confidential table. Tables with
// impossible cells have no part in them.
func newChains(r *spec.Release, tables []table) chains {
	c := chains{of: map[spec.Attribute]residual.Axis{}}
	var columns []string
	levels := map[string][]*spec.Level{}
	names := map[*spec.Level]string{}
	for _, t := range tables {
		if t.masked() {
			continue
		}
		for _, a := range t.counted {
			level, ok := r.Table(t.marginal.Table).Column(a.Column).Domain.Level(a.Level)
			if !ok {
				continue // refused before
			}
			if levels[a.Column] == nil {
				columns = append(columns, a.Column)
			}
			if !slices.Contains(levels[a.Column], level) {
				levels[a.Column] = append(levels[a.Column], level)
			}
			names[level] = a.Level
		}
	}
	for _, column := range columns {
		c.chain(r.Table(tables[0].marginal.Table).Column(column).Domain.Size(), column, levels[column], names)
	}
	return c
}

// chain adds a column: the levels sorted, coarsest first, into as few chains as a greedy search finds.
func (c *chains) chain(base int, column string, levels []*spec.Level, names map[*spec.Level]string) {
	slices.SortStableFunc(levels, func(a, b *spec.Level) int { return cmp.Compare(a.Size(), b.Size()) })
	for len(levels) > 0 {
		var parents [][]int
		var chain, left []*spec.Level
		for _, level := range levels {
			var parent []int
			nested := true
			if len(chain) == 0 {
				parent = make([]int, level.Size())
			} else {
				parent, nested = nesting(base, level, chain[len(chain)-1])
			}
			if !nested {
				left = append(left, level)
				continue
			}
			chain, parents = append(chain, level), append(parents, parent)
		}
		at := len(c.columns)
		c.columns = append(c.columns, residual.NewColumn(parents...))
		c.names, c.source = append(c.names, nil), append(c.source, column)
		for k, level := range chain {
			c.names[at] = append(c.names[at], names[level])
			c.of[spec.Attribute{Column: column, Level: names[level]}] = residual.Axis{Column: at, Level: k + 1}
		}
		levels = left
	}
}

// nesting finds, for each category of a level, the one of a coarser level that it lies in; false where one lies in
// several, or in none.
func nesting(base int, fine, coarse *spec.Level) ([]int, bool) {
	parent := make([]int, fine.Size())
	for i := range parent {
		parent[i] = -1
	}
	code := func(l *spec.Level, i int) int {
		if l.Of == nil {
			return i
		}
		return int(l.Of[i])
	}
	for i := range base {
		f, p := code(fine, i), code(coarse, i)
		if parent[f] >= 0 && parent[f] != p {
			return nil, false
		}
		parent[f] = p
	}
	return parent, !slices.Contains(parent, -1)
}

// attribute is the column that an axis is of.
func (c chains) attribute(a residual.Axis) string { return c.source[a.Column] }

// axes are a table's attributes as axes, in the table's order; set is the same, sorted.
func (c chains) axes(t table) residual.Set {
	out := make(residual.Set, len(t.counted))
	for i, a := range t.counted {
		out[i] = c.of[a]
	}
	return out
}

func set(axes residual.Set) residual.Set {
	sorted := slices.Clone(axes)
	slices.SortFunc(sorted, func(a, b residual.Axis) int { return cmp.Compare(a.Column, b.Column) })
	return sorted
}

// flat tells that every column of a table has one level, and none has ranges.
func (c chains) flat(t table) bool {
	return !slices.ContainsFunc(c.axes(t), func(a residual.Axis) bool { return !c.columns[a.Column].Plain() })
}

// sourceOf is what a measurement says of the columns.
func (c chains) sourceOf(m Measurement) residual.Source {
	s := residual.Source{Variance: m.Mechanism.Variance()}
	for _, f := range m.Query.Factors {
		s.Axes = append(s.Axes, c.of[spec.Attribute{Column: f.Attribute, Level: f.Level}])
		s.Plain = append(s.Plain, f.Basis == Identity)
	}
	return s
}
