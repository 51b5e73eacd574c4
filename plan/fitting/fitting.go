package fitting

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/attributes"
	"github.com/dprelease/dprelease/plan/impossible"
	"github.com/dprelease/dprelease/plan/residual"
	"github.com/dprelease/dprelease/plan/workload"
	"github.com/dprelease/dprelease/spec"
)

// This file holds the fitting: the order in which the tables of a confidential table are made to add up, so that what
// is fixed never changes again. Argument: docs/proofs/consistent.md.

// Fitting is that order, for the tables that [Consistency] covers.
type Fitting struct {
	Chains []workload.Chain
	Tables []Table
	Steps  []Step
}

// Table is a table that is fitted.
type Table struct {
	Index  int // index in Plan.Tables
	Margin Margin
	Order  []int // the chain of each attribute
	From   int   // the step of which it is a margin
}

// Step fixes the cells of one margin.
type Step struct {
	Margin Margin
	Table  int // index in Tables; −1 if no table has the margin
	// Fixed are margins that are already fixed, each a margin of an earlier step, in an order in which two at a time
	// can be joined: what one shares with those before is within a single one of them.
	Fixed []FixedMargin
	// Impossible reports whether some of its cells are exact zeros. Such a step has one fixed margin.
	Impossible bool
	// Given are the cells if an invariant decides them, otherwise nil; Invariant is its name.
	Given     []int64
	Invariant string
}

// FixedMargin is a margin of an earlier step.
type FixedMargin struct {
	Margin
	From int
}

// Of returns the order in which the tables of a consistency are fitted.
func Of(p *plan.Plan, c plan.Consistency) (*Fitting, error) {
	if c.Way != plan.Fitted {
		return nil, fmt.Errorf("the tables of %s are not fitted", c.Table)
	}
	return schedule(p, c)
}

// schedule finds the order. What invariants decide comes first. Tables with impossible cells come before single
// columns, as these must agree with them, then tables of three attributes or more, and pairs last. It returns an
// error if there is no such order, or if the impossible cells leave no possible one, or none for rows that an
// invariant has.
func schedule(p *plan.Plan, c plan.Consistency) (*Fitting, error) {
	f := &fitter{plan: p, first: map[string]int{}, pairs: map[[2]int][]int{}}
	confidential := p.Release().Table(c.Table)
	paths := map[string]bool{}
	for _, path := range c.Tables {
		paths[path] = true
	}
	var by [][]spec.Attribute
	for i, t := range p.Tables {
		if paths[t.Path] {
			by = append(by, attributes.CountedBy(confidential, t.Attributes()))
			f.Tables = append(f.Tables, Table{Index: i, From: -1})
		}
	}
	for _, i := range p.Release().Invariants {
		if i.Table == c.Table {
			f.invariants, by = append(f.invariants, i), append(by, attributes.CountedBy(confidential, i.By))
		}
	}
	var margins []Margin
	var orders [][]int
	f.Chains, margins, orders = chainsOf(confidential, by)
	for i := range f.Tables {
		f.Tables[i].Margin, f.Tables[i].Order = margins[i], orders[i]
		if _, ok := f.first[fmt.Sprint(margins[i])]; !ok {
			f.first[fmt.Sprint(margins[i])] = i
		}
	}
	f.addGiven(confidential)
	if err := f.addImpossible(); err != nil {
		return nil, err
	}
	f.addSingles()
	f.base = len(f.Steps)
	if err := f.addCrossing(); err != nil {
		return nil, err
	}
	for i, t := range f.Tables {
		if t.From < 0 {
			f.Tables[i].From = f.containingStep(t.Margin)
		}
	}
	if _, err := f.Masks(p); err != nil {
		return nil, err
	}
	return &f.Fitting, nil
}

// fitter builds a fitting.
type fitter struct {
	Fitting
	plan       *plan.Plan
	invariants []spec.Invariant // of the confidential table
	first      map[string]int   // by margin, the first table that has it
	pairs      map[[2]int][]int // the steps that have both of two chains
	base       int              // number of steps up to single columns; 0 until these are added
}

func (f *fitter) addStep(s Step) {
	at := len(f.Steps)
	f.Steps = append(f.Steps, s)
	for i := range s.Margin {
		for j := range i {
			if s.Margin[i] > 0 && s.Margin[j] > 0 {
				f.pairs[[2]int{j, i}] = append(f.pairs[[2]int{j, i}], at)
			}
		}
	}
	if s.Table >= 0 {
		f.Tables[s.Table].From = at
	}
}

// tableWith returns the first table with this margin, −1 for none.
func (f *fitter) tableWith(m Margin) int {
	if at, ok := f.first[fmt.Sprint(m)]; ok {
		return at
	}
	return -1
}

// containingStep returns the coarsest step that contains the margin; −1 for none.
func (f *fitter) containingStep(m Margin) int {
	best := -1
	for _, at := range f.sharingSteps(m) {
		if m.Within(f.Steps[at].Margin) && (best < 0 || f.Steps[at].Margin.depth() < f.Steps[best].Margin.depth()) {
			best = at
		}
	}
	return best
}

// sharingSteps returns the steps that may have a margin of two chains or more in common with this one. For a margin
// of fewer chains it returns all steps up to single columns, one of which has it.
func (f *fitter) sharingSteps(m Margin) []int {
	if m.Dimensions() < 2 {
		n := len(f.Steps)
		if f.base > 0 {
			n = f.base
		}
		all := make([]int, n)
		for i := range all {
			all[i] = i
		}
		return all
	}
	var all []int
	for i := range m {
		for j := range i {
			if m[i] > 0 && m[j] > 0 {
				all = append(all, f.pairs[[2]int{j, i}]...)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// path returns the path of a table.
func (f *fitter) path(table int) string { return f.plan.Tables[f.Tables[table].Index].Path }

// tableError returns the error for a table, with its position in the spec.
func (f *fitter) tableError(table int, message, expected string) error {
	t := f.plan.Tables[f.Tables[table].Index]
	return workload.LocateFault(f.plan.Release(), "marginals."+t.Marginal, &workload.Fault{Key: "by", Message: message,
		Expected: expected})
}

// outermostTables returns the tables for which of holds, without those within another one of more chains, and without
// repetitions.
func (f *fitter) outermostTables(of func(t Table) bool) []int {
	var all []int
	for i, t := range f.Tables {
		if of(t) && f.tableWith(t.Margin) == i {
			all = append(all, i)
		}
	}
	fewest := len(f.Chains)
	for _, i := range all {
		fewest = min(fewest, f.Tables[i].Margin.Dimensions())
	}
	var many []int // of more chains than those
	for _, i := range all {
		if f.Tables[i].Margin.Dimensions() > fewest {
			many = append(many, i)
		}
	}
	return slices.DeleteFunc(all, func(i int) bool {
		m := f.Tables[i].Margin
		return slices.ContainsFunc(many, func(j int) bool {
			o := f.Tables[j].Margin
			return m.Within(o) && o.Dimensions() > m.Dimensions()
		})
	})
}

// orderTables returns tables in an order in which all that each shares with those before is within one of them; it
// reports false if there is none. Margins of fewer than leastChains chains that two tables share are disregarded.
func (f *fitter) orderTables(tables []int, leastChains int) (order []int, ok bool) {
	tables = slices.Clone(tables)
	slices.SortStableFunc(tables,
		func(a, b int) int { return cmp.Compare(f.Tables[a].Margin.depth(), f.Tables[b].Margin.depth()) })
	margins := make([]Margin, len(tables))
	for i, t := range tables {
		margins[i] = f.Tables[t].Margin
	}
	places, ok := earOrder(margins, leastChains)
	for _, i := range places {
		order = append(order, tables[i])
	}
	return order, ok
}

// addImpossible adds the tables with impossible cells, except those that an invariant decides, which has no rows in
// these cells. If what a table shares with the steps before is within none of them, that is combined first: then
// every cell of it must be possible.
func (f *fitter) addImpossible() error {
	given := len(f.Steps)
	tables := f.outermostTables(func(t Table) bool {
		return hasImpossible(f.plan.Tables[t.Index]) && f.containingStep(t.Margin) < 0
	})
	order, ok := f.orderTables(tables, 1)
	if !ok {
		return f.tableError(order[0],
			fmt.Sprintf("table %s has impossible cells, and so have others with which it overlaps in a cycle: whole "+
				"counts that keep to all of these at once have no efficient way to be found", f.path(order[0])),
			"fewer of the tables with impossible cells, one table of all their attributes, or no `integers` under `publish`")
	}
	for _, table := range order {
		own := f.Tables[table].Margin
		var before []Margin
		for _, s := range f.Steps {
			before = append(before, s.Margin)
		}
		m := sharedMargin(own, before, 1)
		if f.containingStep(m) < 0 {
			fixed, ok := joinOrder(f.commonMargins(own))
			if !ok || given == 1 {
				return f.tableError(table, fmt.Sprintf(
					"table %s has impossible cells, and invariants and others of that kind share more of it than one "+
						"of them has: whole counts that keep to all of these at once have no efficient way to be found", f.path(table)),
					"an invariant by all the attributes that the table shares with them, or no `integers` under `publish`")
			}
			f.addStep(Step{Margin: m, Table: f.tableWith(m), Fixed: fixed})
		}
		f.addStep(Step{Margin: own, Table: table, Fixed: []FixedMargin{{m, f.containingStep(m)}}, Impossible: true})
	}
	return nil
}

// commonMargins returns the largest margins that this one has in common with the steps so far.
func (f *fitter) commonMargins(m Margin) []FixedMargin {
	var all []Margin
	for _, s := range f.Steps {
		all = append(all, m.Meet(s.Margin))
	}
	return f.fixedFrom(all)
}

// fixedFrom returns the largest of some margins, each from the coarsest step that has it.
func (f *fitter) fixedFrom(all []Margin) []FixedMargin {
	var out []FixedMargin
	for _, one := range largestMargins(all) {
		out = append(out, FixedMargin{one, f.containingStep(one)})
	}
	slices.SortStableFunc(out, func(a, b FixedMargin) int { return cmp.Compare(b.depth(), a.depth()) })
	return out
}

// addSingles adds every chain by itself, level by level, unless the tables with impossible cells determine it.
func (f *fitter) addSingles() {
	for chain, c := range f.Chains {
		for level := 1; level <= len(c.Levels); level++ {
			m := singleMargin(len(f.Chains), chain, level)
			if f.containingStep(m) < 0 {
				coarser := singleMargin(len(f.Chains), chain, level-1)
				f.addStep(Step{Margin: m, Table: f.tableWith(m),
					Fixed: []FixedMargin{{coarser, f.containingStep(coarser)}}})
			}
		}
	}
}

// addCrossing adds the tables of several attributes that are not margins of earlier steps.
func (f *fitter) addCrossing() error {
	outermost := f.outermostTables(func(t Table) bool {
		return t.Margin.Dimensions() > 2 &&
			f.containingStep(t.Margin) < 0
	})
	many, _ := f.orderTables(outermost, 2)
	pairs := f.outermostTables(func(t Table) bool { return t.Margin.Dimensions() == 2 })
	slices.SortStableFunc(pairs,
		func(a, b int) int { return cmp.Compare(f.Tables[a].Margin.depth(), f.Tables[b].Margin.depth()) })
	for _, table := range append(many, pairs...) {
		m := f.Tables[table].Margin
		if f.containingStep(m) >= 0 {
			continue
		}
		fixed, ok := joinOrder(f.fixedMargins(m))
		if !ok {
			others := f.othersText()
			return f.tableError(table, fmt.Sprintf(
				"table %s overlaps %s in a cycle, one of them of three attributes or more: whole counts that agree "+
					"with all of these at once have no efficient way to be found in general", f.path(table), others),
				"tables of which each shares with those before it what one of them has, or tables of at most two "+
					"attributes; or microdata of all their columns (`synthetic`), from which such tables are "+
					"counted; or no `integers` under `publish`")
		}
		f.addStep(Step{Margin: m, Table: table, Fixed: fixed})
	}
	return nil
}

// fixedMargins returns the largest margins of this one that are already fixed: each of its chains by itself, and what
// it shares with earlier tables.
func (f *fitter) fixedMargins(m Margin) []FixedMargin {
	var all []Margin
	for chain, level := range m {
		if level > 0 {
			all = append(all, singleMargin(len(m), chain, level))
		}
	}
	for _, at := range f.sharingSteps(m) {
		if shared := m.Meet(f.Steps[at].Margin); shared.Dimensions() > 1 {
			all = append(all, shared)
		}
	}
	return f.fixedFrom(all)
}

// joinOrder returns margins in an order in which all that each shares with those before is within one of them; it
// reports false if there is none.
func joinOrder(all []FixedMargin) ([]FixedMargin, bool) {
	margins := make([]Margin, len(all))
	for i, m := range all {
		margins[i] = m.Margin
	}
	places, ok := earOrder(margins, 1)
	out := make([]FixedMargin, len(all))
	for i, at := range places {
		out[i] = all[at]
	}
	return out, ok
}

// Cells returns the number of cells of a margin.
func (f *Fitting) Cells(m Margin) int {
	n := 1
	for i, level := range m {
		n *= f.Chains[i].Size(level)
	}
	return n
}

// Project returns, for each cell of a margin, the cell that contains it in a margin within it.
func (f *Fitting) Project(m, within Margin) []int32 {
	out := []int32{0}
	for i, level := range m {
		if level == 0 {
			continue
		}
		size := int32(f.Chains[i].Size(within[i]))
		out = residual.Cross(out, f.Chains[i].Within(level, within[i]),
			func(before int32, c int) int32 { return before*size + int32(c) })
	}
	return out
}

// CellIndices returns, for each cell of a table in its own order of attributes, its index in the margin's order.
func (f *Fitting) CellIndices(t Table) []int32 {
	strides := make([]int32, len(f.Chains))
	stride := int32(1)
	for i := len(t.Margin) - 1; i >= 0; i-- {
		strides[i] = stride
		stride *= int32(f.Chains[i].Size(t.Margin[i]))
	}
	out := []int32{0}
	for _, chain := range t.Order {
		size := f.Chains[chain].Size(t.Margin[chain])
		next := make([]int32, 0, len(out)*size)
		for _, before := range out {
			for c := range size {
				next = append(next, before+int32(c)*strides[chain])
			}
		}
		out = next
	}
	return out
}

// Masks returns, by step, which cells are exact zeros, nil if none is: those that the spec declares, and those with
// no possible cell left in a table of a later step, except cells that have no rows by an invariant. It returns an
// error if nothing is possible.
func (f *Fitting) Masks(p *plan.Plan) ([][]bool, error) {
	masks := make([][]bool, len(f.Steps))
	for i, s := range f.Steps {
		if !s.hasZeros() {
			continue
		}
		t := f.Tables[s.Table]
		mask, err := impossible.Of(p.Query(p.Tables[t.Index]), p.Release())
		if err != nil {
			return nil, err
		}
		masks[i] = make([]bool, f.Cells(s.Margin))
		own := mask.Cells()
		for cell, at := range f.CellIndices(t) {
			masks[i][at] = own != nil && own[cell]
		}
	}
	for i := len(f.Steps) - 1; i >= 0; i-- {
		if masks[i] == nil {
			continue
		}
		fixed := f.Steps[i].Fixed[0]
		dead := make([]bool, f.Cells(fixed.Margin))
		for c := range dead {
			dead[c] = true
		}
		for cell, c := range f.Project(f.Steps[i].Margin, fixed.Margin) {
			dead[c] = dead[c] && masks[i][cell]
		}
		for c, none := range f.emptyCells(fixed.Margin) { // which need no cell
			dead[c] = dead[c] && !none
		}
		switch {
		case !slices.Contains(dead, true):
		case f.Steps[fixed.From].Given != nil:
			if err := f.checkEmptied(p, i, dead); err != nil {
				return nil, err
			}
		case len(f.Steps[fixed.From].Fixed) > 1:
			t := p.Tables[f.Tables[f.Steps[i].Table].Index]
			return nil, workload.LocateFault(p.Release(), "marginals."+t.Marginal,
				&workload.Fault{Key: "by",
					Message: fmt.Sprintf("table %s has impossible cells where what invariants and others say of it "+
						"crosses: whole counts that keep to all of these at once are not looked for", t.Path),
					Expected: "an invariant by all the attributes that the table shares with them, or no `integers` " +
						"under `publish`"})
		case masks[fixed.From] == nil:
			t := p.Tables[f.Tables[f.Steps[i].Table].Index]
			return nil, workload.LocateFault(p.Release(), "marginals."+t.Marginal,
				&workload.Fault{Key: "by",
					Message: fmt.Sprintf("`impossible` leaves no cell of table %s that is possible in all tables "+
						"that share its columns", t.Path),
					Expected: "other entries under `impossible`, or fewer tables"})
		default:
			for cell, c := range f.Project(f.Steps[fixed.From].Margin, fixed.Margin) {
				masks[fixed.From][cell] = masks[fixed.From][cell] || dead[c]
			}
		}
	}
	return masks, nil
}
