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
	of      map[usage]residual.Axis
	leaves  []string // their paths
	ranges  map[source]bool
	tables  []residual.Set // the attributes of each table of the release, in its order
}

// usage is an attribute as the tables of some leaves use its column: for ranges, or not.
type usage struct {
	spec.Attribute
	ranged bool
}

// source is a column in a leaf, by its path.
type source struct{ leaf, column string }

// axis is what an attribute is for the tables and measurements of a leaf.
func (c chains) axis(leaf string, a spec.Attribute) (residual.Axis, bool) {
	axis, ok := c.of[usage{a, c.ranges[source{leaf, a.Column}]}]
	return axis, ok
}

// newChains builds the chains of the attributes of some tables, which are of one confidential table. Tables with
// impossible cells, and those that stand apart for their many attributes, have no part in them. A column in a leaf that
// ranges names has the one residual that is best for what counts up along it, or is asked for ranges of it, whatever its
// levels; for other leaves it is a column of its own. In a pure budget other columns have one level each, as nothing is gained there by measuring what
// levels share; so they have where levels are to be separate. It fails on a column of too many categories for ranges.
func newChains(r *spec.Release, tables []*table, how Summing) (chains, error) {
	ranges := how.ranges(r, tables)
	c := chains{of: map[usage]residual.Axis{}, ranges: ranges}
	for _, l := range r.Budget.Leaves {
		c.leaves = append(c.leaves, l.Path)
	}
	b := chainBuilder{chains: &c, laplace: r.Budget.Epsilon != nil && r.Budget.Delta == nil, separate: how == LevelsSeparate, levels: map[column][]*spec.Level{}, names: map[*spec.Level]string{}, sums: map[*spec.Level]residual.Sums{}}
	var columns []column
	known := map[usage]*spec.Level{}
	for _, t := range tables {
		if t.apart() {
			continue
		}
		for i, a := range t.counted {
			of := b.of(t, a)
			level, ok := known[usage{a, of.ranged}]
			if !ok {
				if level, ok = r.Table(t.marginal.Table).Column(a.Column).Domain.Level(a.Level); !ok {
					continue // refused before
				}
				known[usage{a, of.ranged}] = level
				if b.levels[of] == nil {
					columns = append(columns, of)
				}
				if !slices.Contains(b.levels[of], level) {
					b.levels[of] = append(b.levels[of], level)
				}
				b.names[level] = a.Level
			}
			if t.sums[i] != residual.Cells {
				b.sums[level] = max(b.sums[level], t.sums[i])
			}
		}
	}
	if len(ranges) > 0 {
		b.besides(r, tables)
	}
	for _, of := range columns {
		if err := b.chain(r.Table(tables[0].marginal.Table).Column(of.name).Domain.Size(), of); err != nil {
			return c, at(r, "tables."+tables[0].marginal.Table+".columns."+of.name, err)
		}
	}
	if len(tables) > 0 {
		c.tables = make([]residual.Set, tables[len(tables)-1].place+1)
	}
	var marginals []residual.Marginal
	for _, t := range tables {
		if t.apart() {
			continue
		}
		axes := make(residual.Set, len(t.counted))
		for i, a := range t.counted {
			axes[i], _ = c.axis(c.leaves[t.leaf], a)
			axes[i].Sums = t.sums[i]
		}
		c.tables[t.place] = axes
		if len(ranges) > 0 {
			marginals = append(marginals, residual.Marginal{Axes: set(axes), Weight: t.weight})
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
	laplace  bool // the budget is a pure ε
	separate bool // every level is a column of its own
	levels   map[column][]*spec.Level
	names    map[*spec.Level]string
	sums     map[*spec.Level]residual.Sums
	beside   map[string][]beside
}

// column is a column of the table, as leaves use it that ask for ranges of it, or as others do.
type column struct {
	name   string
	ranged bool
}

// of is the column of a table's attribute.
func (b *chainBuilder) of(t *table, a spec.Attribute) column {
	return column{a.Column, b.ranges[source{b.leaves[t.leaf], a.Column}]}
}

// beside is what a table has together with a column: so many columns with ranges, itself among them, and so many cells of
// the others.
type beside struct {
	columns int
	cells   int64
}

// besides finds the tables that each column with ranges is in.
func (b *chainBuilder) besides(r *spec.Release, tables []*table) {
	b.beside = map[string][]beside{}
	for _, t := range tables {
		if t.apart() {
			continue
		}
		one := beside{cells: 1}
		for _, a := range t.counted {
			if b.of(t, a).ranged {
				one.columns++
			} else if level, ok := r.Table(t.marginal.Table).Column(a.Column).Domain.Level(a.Level); ok {
				one.cells *= int64(level.Size()) // no more than the table has
			}
		}
		for _, a := range t.counted {
			if b.of(t, a).ranged {
				b.beside[a.Column] = append(b.beside[a.Column], one)
			}
		}
	}
}

// chain adds a column: its levels sorted, coarsest first, into as few chains as a greedy search finds.
func (b *chainBuilder) chain(base int, of column) error {
	levels := b.levels[of]
	slices.SortStableFunc(levels, func(a, b *spec.Level) int { return cmp.Compare(a.Size(), b.Size()) })
	for len(levels) > 0 {
		var parents [][]int
		var chain, left []*spec.Level
		for _, level := range levels {
			var parent []int
			nested := !b.laplace && !b.separate || of.ranged
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
		if b.laplace && of.ranged && b.most(chain) == residual.Cells { // without ranges of its own: one level each
			left = append(left, chain[1:]...)
			chain, parents = chain[:1], [][]int{make([]int, chain[0].Size())}
		}
		made, err := b.column(of, chain, parents)
		if err != nil {
			return err
		}
		at := len(b.columns)
		b.columns = append(b.columns, made)
		b.chains.names, b.origin = append(b.chains.names, nil), append(b.origin, of.name)
		for k, level := range chain {
			b.chains.names[at] = append(b.chains.names[at], b.names[level])
			b.chains.of[usage{spec.Attribute{Column: of.name, Level: b.names[level]}, of.ranged}] = residual.Axis{Column: at, Level: k + 1}
		}
		levels = left
	}
	return nil
}

// most is what is asked along a chain of levels: ranges before prefix sums before cells.
func (b *chainBuilder) most(chain []*spec.Level) residual.Sums {
	sums := residual.Cells
	for _, level := range chain {
		sums = max(sums, b.sums[level])
	}
	return sums
}

// column is the column of a chain of levels.
func (b *chainBuilder) column(of column, chain []*spec.Level, parents [][]int) (*residual.Column, error) {
	sums := b.most(chain)
	n := chain[len(chain)-1].Size()
	if !of.ranged || sums == residual.Cells || n < 2 {
		return residual.NewColumn(parents...), nil
	}
	ranging := residual.RangingOf(sums, n, b.laplace)
	for _, t := range b.beside[of.name] {
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
func (c chains) axes(t *table) residual.Set {
	if t.apart() {
		return nil
	}
	return c.tables[t.place]
}

// shown are the axes of a table as its rows show them: of ranges, the cells that any reader adds up.
func (c chains) shown(t *table) residual.Set {
	out := slices.Clone(c.axes(t))
	for i := range out {
		if out[i].Sums == residual.Ranges {
			out[i].Sums = residual.Cells
		}
	}
	return out
}

func set(axes residual.Set) residual.Set {
	byColumn := func(a, b residual.Axis) int { return cmp.Compare(a.Column, b.Column) }
	if slices.IsSortedFunc(axes, byColumn) {
		return axes
	}
	sorted := slices.Clone(axes)
	slices.SortFunc(sorted, byColumn)
	return sorted
}

// flat tells that every column of a table has one level, and none has ranges.
func (c chains) flat(t *table) bool {
	return !slices.ContainsFunc(c.axes(t), func(a residual.Axis) bool { return !c.columns[a.Column].Plain() })
}

// ranged are the axes of a table whose columns have ranges.
func (c chains) ranged(t *table) residual.Set {
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
	s := residual.Source{Variance: m.Mechanism.Variance()}
	for _, f := range m.Query.Factors {
		axis, _ := c.axis(m.Leaf, spec.Attribute{Column: f.Attribute, Level: f.Level})
		s.Axes = append(s.Axes, axis)
		s.Plain = append(s.Plain, f.Basis == Identity)
	}
	return s
}
