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
	origin  []string   // the column of the table that each is of
	of      map[spec.Attribute]residual.Axis
}

// newChains builds the chains of the attributes of some tables, which are of one confidential table. Tables with
// impossible cells have no part in them. A column along which a table counts up, or is asked for ranges, has the one
// residual that is best for these, whatever its levels; in a pure budget other columns have one level each, as nothing
// is gained there by measuring what levels share. It fails on a column of too many categories for ranges.
func newChains(r *spec.Release, tables []table) (chains, error) {
	c := chains{of: map[spec.Attribute]residual.Axis{}}
	b := chainBuilder{chains: &c, laplace: r.Budget.Epsilon != nil && r.Budget.Delta == nil, levels: map[string][]*spec.Level{}, names: map[*spec.Level]string{}, sums: map[*spec.Level]residual.Sums{}}
	var columns []string
	var marginals []residual.Marginal
	for _, t := range tables {
		if t.masked() {
			continue
		}
		for i, a := range t.counted {
			level, ok := r.Table(t.marginal.Table).Column(a.Column).Domain.Level(a.Level)
			if !ok {
				continue // refused before
			}
			if b.levels[a.Column] == nil {
				columns = append(columns, a.Column)
			}
			if !slices.Contains(b.levels[a.Column], level) {
				b.levels[a.Column] = append(b.levels[a.Column], level)
			}
			b.names[level], b.sums[level] = a.Level, max(b.sums[level], t.sums[i])
		}
	}
	b.besides(r, tables)
	for _, column := range columns {
		if err := b.chain(r.Table(tables[0].marginal.Table).Column(column).Domain.Size(), column); err != nil {
			return c, at(r, "tables."+tables[0].marginal.Table+".columns."+column, err)
		}
	}
	for _, t := range tables {
		if !t.masked() {
			marginals = append(marginals, residual.Marginal{Axes: set(c.axes(t)), Weight: t.weight()})
		}
	}
	if marginals == nil {
		return c, nil
	}
	var err error
	c.columns, err = residual.Tilted(c.columns, marginals)
	return c, err
}

// chainBuilder adds columns to chains.
type chainBuilder struct {
	*chains
	laplace bool // the budget is a pure ε
	levels  map[string][]*spec.Level
	names   map[*spec.Level]string
	sums    map[*spec.Level]residual.Sums
	beside  map[string][]beside
}

// beside is what a table has together with a column: so many columns with ranges, itself among them, and so many cells of
// the others.
type beside struct {
	columns int
	cells   int64
}

// besides finds the tables that each column with ranges is in.
func (b *chainBuilder) besides(r *spec.Release, tables []table) {
	b.beside = map[string][]beside{}
	ranged := func(a spec.Attribute) bool {
		return slices.ContainsFunc(b.levels[a.Column], func(l *spec.Level) bool { return b.sums[l] != residual.Cells })
	}
	for _, t := range tables {
		if t.masked() {
			continue
		}
		one := beside{cells: 1}
		for _, a := range t.counted {
			if ranged(a) {
				one.columns++
			} else if level, ok := r.Table(t.marginal.Table).Column(a.Column).Domain.Level(a.Level); ok {
				one.cells *= int64(level.Size()) // no more than the table has
			}
		}
		for _, a := range t.counted {
			if ranged(a) {
				b.beside[a.Column] = append(b.beside[a.Column], one)
			}
		}
	}
}

// chain adds a column: its levels sorted, coarsest first, into as few chains as a greedy search finds.
func (b *chainBuilder) chain(base int, column string) error {
	levels := b.levels[column]
	slices.SortStableFunc(levels, func(a, b *spec.Level) int { return cmp.Compare(a.Size(), b.Size()) })
	sums := residual.Cells
	for _, level := range levels {
		sums = max(sums, b.sums[level])
	}
	for len(levels) > 0 {
		var parents [][]int
		var chain, left []*spec.Level
		for _, level := range levels {
			var parent []int
			nested := !b.laplace || sums != residual.Cells
			if len(chain) == 0 {
				parent, nested = make([]int, level.Size()), true
			} else if nested {
				parent, nested = nesting(base, level, chain[len(chain)-1])
			}
			if !nested {
				left = append(left, level)
				continue
			}
			chain, parents = append(chain, level), append(parents, parent)
		}
		made, err := b.column(column, chain, parents)
		if err != nil {
			return err
		}
		at := len(b.columns)
		b.columns = append(b.columns, made)
		b.chains.names, b.origin = append(b.chains.names, nil), append(b.origin, column)
		for k, level := range chain {
			b.chains.names[at] = append(b.chains.names[at], b.names[level])
			b.of[spec.Attribute{Column: column, Level: b.names[level]}] = residual.Axis{Column: at, Level: k + 1}
		}
		levels = left
	}
	return nil
}

// column is the column of a chain of levels.
func (b *chainBuilder) column(name string, chain []*spec.Level, parents [][]int) (*residual.Column, error) {
	sums := residual.Cells
	for _, level := range chain {
		sums = max(sums, b.sums[level])
	}
	n := chain[len(chain)-1].Size()
	if sums == residual.Cells || n < 2 {
		return residual.NewColumn(parents...), nil
	}
	ranging := residual.RangingOf(sums, n, b.laplace)
	for _, t := range b.beside[name] {
		ranging = ranging.Beside(t.columns, t.cells)
	}
	c, err := residual.NewRanged(ranging, parents...)
	if err != nil {
		return nil, &fault{"", err.Error(), "a coarser level for what counts up or is asked for ranges"}
	}
	return c, nil
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
func (c chains) attribute(a residual.Axis) string { return c.origin[a.Column] }

// axes are a table's attributes as axes, in the table's order, none of a table with impossible cells; set is the same,
// sorted.
func (c chains) axes(t table) residual.Set {
	if t.masked() {
		return nil
	}
	out := make(residual.Set, len(t.counted))
	for i, a := range t.counted {
		out[i] = c.of[a]
		out[i].Sums = t.sums[i]
	}
	return out
}

// shown are the axes of a table as its rows show them: of ranges, the cells that any reader adds up.
func (c chains) shown(t table) residual.Set {
	out := c.axes(t)
	for i := range out {
		if out[i].Sums == residual.Ranges {
			out[i].Sums = residual.Cells
		}
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

// ranged are the axes of a table whose columns have ranges.
func (c chains) ranged(t table) residual.Set {
	var out residual.Set
	for _, a := range c.axes(t) {
		if _, ok := c.columns[a.Column].Ranging(); ok {
			out = append(out, a)
		}
	}
	return out
}

// sourceOf is what a measurement says of the columns.
func (c chains) sourceOf(m Measurement) residual.Source {
	return c.from(m.Query, m.Mechanism.Variance())
}

// from is what a query with noise of a variance says of the columns.
func (c chains) from(q Query, variance float64) residual.Source {
	s := residual.Source{Variance: variance}
	for _, f := range q.Factors {
		s.Axes = append(s.Axes, c.of[spec.Attribute{Column: f.Attribute, Level: f.Level}])
		s.Plain = append(s.Plain, f.Basis == Identity)
	}
	return s
}
