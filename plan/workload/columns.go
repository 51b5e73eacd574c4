package workload

import (
	"cmp"
	"slices"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/residual"
	"github.com/dprelease/dprelease/plan/strategy"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/domain"
)

// This file holds the columns as the strategy of residuals sees them: nested levels, in chains.

// Chains are the columns of one confidential table, each with the levels that the release's tables use. Levels of a
// column that are not nested are columns of their own.
type Chains struct {
	Columns []*residual.Column
	Levels  []Chain // of each column
	axes    map[usage]residual.Axis
	Leaves  []string // their paths
	ranges  map[source]bool
	tables  []residual.Set // the attributes of each table of the release, in its order
}

// usage is an attribute, with whether the tables of some leaves measure its column for ranges.
type usage struct {
	spec.Attribute
	ranged bool
}

// source is a column in a leaf, given by its path.
type source struct{ leaf, column string }

// Axis returns the axis of an attribute in the tables and measurements of a leaf.
func (c Chains) Axis(leaf string, a spec.Attribute) (residual.Axis, bool) {
	axis, ok := c.axes[usage{a, c.ranges[source{leaf, a.Column}]}]
	return axis, ok
}

// NewChains builds the chains of the attributes of some tables, which are of one confidential table. Standalone
// tables, with impossible cells or many attributes, have no part in them. A column in a leaf that ranges names has
// the one residual that is best for accumulation or ranges along it, whatever its levels; for other leaves it is a
// separate column. In a pure budget other columns have one level each, as nothing is gained there by measuring what
// levels share; they also have one level each if levels are to be separate. It returns an error for a column of too
// many categories for ranges.
func NewChains(r *spec.Release, tables []*Table, how strategy.Summing) (Chains, error) {
	ranges := rangedColumns(how, r, tables)
	c := Chains{axes: map[usage]residual.Axis{}, ranges: ranges}
	for _, l := range r.Budget.Leaves {
		c.Leaves = append(c.Leaves, l.Path)
	}
	b := chainBuilder{Chains: &c, laplace: r.Budget.Epsilon != nil && r.Budget.Delta == nil,
		separate: how == strategy.LevelsSeparate, used: map[column][]*domain.Level{},
		sums: map[*domain.Level]residual.Sums{}}
	var columns []column
	known := map[usage]*domain.Level{} // many tables have the same few attributes
	for _, t := range tables {
		if t.IsStandalone() {
			continue
		}
		for i, a := range t.CountedBy {
			of := b.columnOf(t, a)
			level, ok := known[usage{a, of.ranged}]
			if !ok {
				if level, ok = r.Table(t.Marginal.Table).Column(a.Column).Domain.Level(a.Level); !ok {
					continue // refused before
				}
				known[usage{a, of.ranged}] = level
				if b.used[of] == nil {
					columns = append(columns, of)
				}
				if !slices.Contains(b.used[of], level) {
					b.used[of] = append(b.used[of], level)
				}
			}
			if t.Sums[i] != residual.Cells {
				b.sums[level] = max(b.sums[level], t.Sums[i])
			}
		}
	}
	if len(ranges) > 0 {
		b.findCompanions(r, tables)
	}
	for _, of := range columns {
		if err := b.addChains(r.Table(tables[0].Marginal.Table).Column(of.name), of); err != nil {
			return c, LocateFault(r, "tables."+tables[0].Marginal.Table+".columns."+of.name, err)
		}
	}
	if len(tables) > 0 {
		c.tables = make([]residual.Set, tables[len(tables)-1].Index+1)
	}
	var marginals []residual.Marginal
	for _, t := range tables {
		if t.IsStandalone() {
			continue
		}
		axes := make(residual.Set, len(t.CountedBy))
		for i, a := range t.CountedBy {
			axes[i], _ = c.Axis(c.Leaves[t.Leaf], a)
			axes[i].Sums = t.Sums[i]
		}
		c.tables[t.Index] = axes
		if len(ranges) > 0 {
			marginals = append(marginals, residual.Marginal{Axes: SetOf(axes), Importance: t.Weight})
		}
	}
	if marginals == nil {
		return c, nil
	}
	var err error
	c.Columns, err = residual.WithKappas(c.Columns, marginals)
	return c, err
}

// chainBuilder adds columns to chains.
type chainBuilder struct {
	*Chains
	laplace    bool // the budget is a pure ε
	separate   bool // every level is a column of its own
	used       map[column][]*domain.Level
	sums       map[*domain.Level]residual.Sums
	companions map[string][]companions
}

// column is a column of the table, as it is used by leaves that need ranges of it, or by others.
type column struct {
	name   string
	ranged bool
}

// columnOf returns the column of a table's attribute.
func (b *chainBuilder) columnOf(t *Table, a spec.Attribute) column {
	return column{a.Column, b.ranges[source{b.Leaves[t.Leaf], a.Column}]}
}

// companions is what a table has together with a column: the number of columns with ranges, itself included, and the
// number of cells of the other columns.
type companions struct {
	columns int
	cells   int64
}

// findCompanions finds the tables that each column with ranges is in.
func (b *chainBuilder) findCompanions(r *spec.Release, tables []*Table) {
	b.companions = map[string][]companions{}
	for _, t := range tables {
		if t.IsStandalone() {
			continue
		}
		one := companions{cells: 1}
		for _, a := range t.CountedBy {
			if b.columnOf(t, a).ranged {
				one.columns++
			} else if level, ok := r.Table(t.Marginal.Table).Column(a.Column).Domain.Level(a.Level); ok {
				one.cells *= int64(level.Size()) // no more than the table has
			}
		}
		for _, a := range t.CountedBy {
			if b.columnOf(t, a).ranged {
				b.companions[a.Column] = append(b.companions[a.Column], one)
			}
		}
	}
}

// addChains adds a column with its levels, in chains.
func (b *chainBuilder) addChains(column *spec.Column, of column) error {
	for levels := coarsestFirst(b.used[of]); len(levels) > 0; {
		most := len(levels)
		if !of.ranged && (b.laplace || b.separate) {
			most = 1
		}
		chain, left := newChain(column, levels[:most])
		left = append(left, levels[most:]...)
		// Without ranges of its own the column has one level each.
		if b.laplace && of.ranged && b.widestSums(chain.Levels) == residual.Cells {
			left = append(left, chain.Levels[1:]...)
			chain, _ = newChain(column, levels[:1])
		}
		made, err := b.newColumn(of, chain)
		if err != nil {
			return err
		}
		for k := range chain.Levels {
			b.Chains.axes[usage{chain.Attribute(k + 1), of.ranged}] = residual.Axis{Column: len(b.Columns),
				Level: k + 1}
		}
		b.Columns, b.Levels = append(b.Columns, made), append(b.Levels, chain)
		levels = left
	}
	return nil
}

// widestSums returns what is needed along the levels of a chain: ranges before prefix sums before cells.
func (b *chainBuilder) widestSums(levels []*domain.Level) residual.Sums {
	sums := residual.Cells
	for _, level := range levels {
		sums = max(sums, b.sums[level])
	}
	return sums
}

// newColumn returns the column of residuals of a chain.
func (b *chainBuilder) newColumn(of column, chain Chain) (*residual.Column, error) {
	sums := b.widestSums(chain.Levels)
	n := chain.Size(len(chain.Levels))
	if !of.ranged || sums == residual.Cells || n < 2 {
		return residual.NewColumn(chain.parents...), nil
	}
	ranging := residual.RangingOf(sums, n, b.laplace)
	for _, t := range b.companions[of.name] {
		ranging = ranging.SizedFor(t.columns, t.cells)
	}
	c, err := residual.NewRanged(ranging, chain.parents...)
	if err != nil {
		return nil, &Fault{"", err.Error(), "a coarser level for what counts up or is asked for ranges"}
	}
	return c, nil
}

// Axes returns a table's attributes as axes, in the table's order; nil for a standalone table.
func (c Chains) Axes(t *Table) residual.Set {
	if t.IsStandalone() {
		return nil
	}
	return c.tables[t.Index]
}

// ShownAxes returns the axes of a table as its rows show them: for ranges, the cells that any reader can add up.
func (c Chains) ShownAxes(t *Table) residual.Set {
	out := slices.Clone(c.Axes(t))
	for i := range out {
		if out[i].Sums == residual.Ranges {
			out[i].Sums = residual.Cells
		}
	}
	return out
}

func SetOf(axes residual.Set) residual.Set {
	byColumn := func(a, b residual.Axis) int { return cmp.Compare(a.Column, b.Column) }
	if slices.IsSortedFunc(axes, byColumn) {
		return axes
	}
	sorted := slices.Clone(axes)
	slices.SortFunc(sorted, byColumn)
	return sorted
}

// IsFlat reports whether every column of a table has one level, and none has ranges.
func (c Chains) IsFlat(t *Table) bool {
	return !slices.ContainsFunc(c.Axes(t), func(a residual.Axis) bool { return !c.Columns[a.Column].Plain() })
}

// RangedAxes returns the axes of a table whose columns have ranges.
func (c Chains) RangedAxes(t *Table) residual.Set {
	var out residual.Set
	for _, a := range c.Axes(t) {
		if _, ok := c.Columns[a.Column].Ranging(); ok {
			out = append(out, a)
		}
	}
	return out
}

// SourceOf returns a measurement as a source on the columns.
func (c Chains) SourceOf(m plan.Measurement) residual.Source {
	s := residual.Source{Variance: m.Mechanism.Variance()}
	for _, f := range m.Query.Factors {
		axis, _ := c.Axis(m.Leaf, spec.Attribute{Column: f.Attribute, Level: f.Level})
		s.Axes = append(s.Axes, axis)
		s.Plain = append(s.Plain, f.Basis == plan.Identity)
	}
	return s
}

// Integers returns how many integers a source has.
func (c Chains) Integers(s residual.Source) int64 {
	n := int64(1)
	for i, a := range s.Axes {
		if s.Plain[i] {
			n *= int64(c.Columns[a.Column].Size(a.Level))
		} else {
			n *= int64(c.Columns[a.Column].Integers(a.Level))
		}
	}
	return n
}

// Factor returns an axis as a factor of a query: of counts (plain), or as its residual.
func (c Chains) Factor(a residual.Axis, plain bool) plan.Factor {
	chain := c.Levels[a.Column]
	of := chain.Attribute(a.Level)
	f := plan.Factor{Attribute: of.Column, Level: of.Level, Basis: plan.Residual}
	switch ranging, ok := c.Columns[a.Column].Ranging(); {
	case plain:
		f.Basis = plan.Identity
	case ok:
		return f.Ranged(ranging)
	case a.Level > 1:
		f.Within = chain.Attribute(a.Level - 1).Level
	}
	return f
}

// MeanCellsAdded returns the mean number of cells that a figure of the table adds up: 1, or along n categories (n+1)/2
// for prefix sums and (n+2)/3 for ranges.
func (c Chains) MeanCellsAdded(t *Table) float64 {
	out := 1.0
	for i, a := range c.Axes(t) {
		n := float64(1)
		if t.Sums[i] != residual.Cells {
			n = float64(c.Columns[a.Column].Size(a.Level))
		}
		switch t.Sums[i] {
		case residual.Prefixes:
			out *= (n + 1) / 2
		case residual.Ranges:
			out *= (n + 2) / 3
		}
	}
	return out
}

// rangedColumns returns the columns of some tables that are measured for accumulation along them, by leaf.
func rangedColumns(v strategy.Summing, r *spec.Release, tables []*Table) map[source]bool {
	out := map[source]bool{}
	for _, t := range tables {
		for i, a := range t.CountedBy {
			if t.Sums[i] == residual.Cells || t.IsStandalone() || v == strategy.CellByCell ||
				v == strategy.LevelsSeparate {
				continue
			}
			out[source{r.Budget.Leaves[t.Leaf].Path, a.Column}] = true
			for _, l := range r.Budget.Leaves {
				if v == strategy.RangedEverywhere {
					out[source{l.Path, a.Column}] = true
				}
			}
		}
	}
	return out
}

// Connected partitions tables into groups that share columns; a total goes with the first group. A standalone table
// is a group of its own.
func Connected(tables []*Table, c Chains) [][]*Table {
	group := make([]int, len(c.Columns)) // of each column, 0 for none
	var groups, alone [][]*Table
	find := func(t *Table) []int {
		var found []int
		for _, a := range c.Axes(t) {
			if g := group[a.Column]; g > 0 && !slices.Contains(found, g) {
				found = append(found, g)
			}
		}
		slices.Sort(found)
		return found
	}
	for _, t := range tables {
		if t.IsStandalone() {
			alone = append(alone, []*Table{t})
		}
		if len(t.By) == 0 || t.IsStandalone() {
			continue
		}
		found := find(t)
		if len(found) == 0 {
			groups = append(groups, nil)
			found = []int{len(groups)}
		}
		first := found[0]
		for _, g := range found[1:] { // joined by this table
			groups[first-1], groups[g-1] = append(groups[first-1], groups[g-1]...), nil
			for i := range group {
				if group[i] == g {
					group[i] = first
				}
			}
		}
		groups[first-1] = append(groups[first-1], t)
		for _, a := range c.Axes(t) {
			group[a.Column] = first
		}
	}
	groups = slices.DeleteFunc(groups, func(g []*Table) bool { return g == nil })
	for _, t := range tables {
		if len(t.By) > 0 || t.IsStandalone() {
			continue
		}
		if len(groups) == 0 {
			groups = append(groups, nil)
		}
		groups[0] = append(groups[0], t)
	}
	return append(groups, alone...)
}

// Contains reports whether a table has all attributes of another.
func Contains(outer, inner *Table) bool {
	for _, a := range inner.CountedBy {
		if !slices.Contains(outer.CountedBy, a) {
			return false
		}
	}
	return true
}
