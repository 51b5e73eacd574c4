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

// This file holds the fitting: in which order the tables of a confidential table are made to add up, so that what
// stands never has to be touched again. Argument: docs/proofs/consistent.md.

// Fitting is that order, for the tables that [Consistency] covers.
type Fitting struct {
	Chains []workload.Chain
	Tables []Table
	Steps  []Step
}

// Table is a table that is fitted.
type Table struct {
	At     int // in Plan.Tables
	Margin Margin
	Order  []int // of each attribute the chain
	From   int   // the step that it is a margin of
}

// Step fixes the cells of one margin.
type Step struct {
	Margin Margin
	Table  int // among Tables; −1 where the margin is of none
	// Fixed are margins that stand, each one of an earlier step's, in an order in which two at a time can be joined: what
	// one shares with those before lies within a single one of them.
	Fixed []FixedMargin
	// Impossible tells that some of its cells are exact zeros. Such a step has one fixed margin.
	Impossible bool
	// Given are the cells where an invariant decides them, nil where none does; Invariant is its name.
	Given     []int64
	Invariant string
}

// FixedMargin is a margin of an earlier step.
type FixedMargin struct {
	Margin
	From int
}

// Of is the order in which the tables of a consistency are fitted.
func Of(p *plan.Plan, c plan.Consistency) (*Fitting, error) {
	if c.Way != plan.Fitted {
		return nil, fmt.Errorf("the tables of %s are not fitted", c.Table)
	}
	return schedule(p, c)
}

// schedule finds the order. What invariants decide comes first. Tables with impossible cells come before single
// columns, as these must agree with them, those of three attributes or more after these, and pairs last. It fails where
// there is no such order, or the impossible cells leave none that is possible, or none for rows that an invariant has.
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
			f.Tables = append(f.Tables, Table{At: i, From: -1})
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
	f.given(confidential)
	if err := f.masked(); err != nil {
		return nil, err
	}
	f.singles()
	f.base = len(f.Steps)
	if err := f.crossing(); err != nil {
		return nil, err
	}
	for i, t := range f.Tables {
		if t.From < 0 {
			f.Tables[i].From = f.within(t.Margin)
		}
	}
	if _, err := f.Masks(p); err != nil {
		return nil, err
	}
	return &f.Fitting, nil
}

// fitter is a fitting on its way.
type fitter struct {
	Fitting
	plan       *plan.Plan
	invariants []spec.Invariant // of the confidential table
	first      map[string]int   // of each margin that tables have, the first of these
	pairs      map[[2]int][]int // the steps that have both of two chains
	base       int              // the steps up to those of single columns, 0 while these are added
}

func (f *fitter) add(s Step) {
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

// find is the first table with this margin, −1 for none.
func (f *fitter) find(m Margin) int {
	if at, ok := f.first[fmt.Sprint(m)]; ok {
		return at
	}
	return -1
}

// within is a step that the margin is one of, the coarsest; −1 for none.
func (f *fitter) within(m Margin) int {
	best := -1
	for _, at := range f.sharing(m) {
		if m.Within(f.Steps[at].Margin) && (best < 0 || f.Steps[at].Margin.depth() < f.Steps[best].Margin.depth()) {
			best = at
		}
	}
	return best
}

// sharing are the steps that may have a margin of two chains or more in common with this one; of a margin of fewer, all
// up to those of single columns, one of which has it.
func (f *fitter) sharing(m Margin) []int {
	if m.Ways() < 2 {
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

// path is the path of a table.
func (f *fitter) path(table int) string { return f.plan.Tables[f.Tables[table].At].Path }

// refuse is the refusal of a table, in its place in the spec.
func (f *fitter) refuse(table int, message, expected string) error {
	t := f.plan.Tables[f.Tables[table].At]
	return workload.At(f.plan.Release(), "marginals."+t.Marginal, &workload.Fault{Key: "by", Message: message,
		Expected: expected})
}

// outermost are the tables of a kind, but for those within another one of more chains, and for repetitions.
func (f *fitter) outermost(of func(t Table) bool) []int {
	var all []int
	for i, t := range f.Tables {
		if of(t) && f.find(t.Margin) == i {
			all = append(all, i)
		}
	}
	fewest := len(f.Chains)
	for _, i := range all {
		fewest = min(fewest, f.Tables[i].Margin.Ways())
	}
	var many []int // of more chains than those
	for _, i := range all {
		if f.Tables[i].Margin.Ways() > fewest {
			many = append(many, i)
		}
	}
	return slices.DeleteFunc(all, func(i int) bool {
		m := f.Tables[i].Margin
		return slices.ContainsFunc(many, func(j int) bool {
			o := f.Tables[j].Margin
			return m.Within(o) && o.Ways() > m.Ways()
		})
	})
}

// ordered puts tables into an order in which all that each shares with those before lies within one of them; false
// where there is none.
func (f *fitter) ordered(tables []int, least int) (order []int, ok bool) {
	tables = slices.Clone(tables)
	slices.SortStableFunc(tables,
		func(a, b int) int { return cmp.Compare(f.Tables[a].Margin.depth(), f.Tables[b].Margin.depth()) })
	margins := make([]Margin, len(tables))
	for i, t := range tables {
		margins[i] = f.Tables[t].Margin
	}
	places, ok := ears(margins, least)
	for _, i := range places {
		order = append(order, tables[i])
	}
	return order, ok
}

// masked adds the tables with impossible cells, but for those that an invariant decides, which has no rows in these.
// Where all that one shares with the steps before lies within none of them, that is put together first: then every cell
// of it must be possible.
func (f *fitter) masked() error {
	given := len(f.Steps)
	tables := f.outermost(func(t Table) bool { return hasImpossible(f.plan.Tables[t.At]) && f.within(t.Margin) < 0 })
	order, ok := f.ordered(tables, 1)
	if !ok {
		return f.refuse(order[0],
			fmt.Sprintf("table %s has impossible cells, and so have others with which it hangs together in a circle: whole counts that keep to all of these at once have no efficient way to be found", f.path(order[0])),
			"fewer of the tables with impossible cells, one table of all their attributes, or no `integers` under `publish`")
	}
	for _, table := range order {
		own := f.Tables[table].Margin
		var before []Margin
		for _, s := range f.Steps {
			before = append(before, s.Margin)
		}
		m := shared(own, before, 1)
		if f.within(m) < 0 {
			fixed, ok := joinable(f.meets(own))
			if !ok || given == 1 {
				return f.refuse(table, fmt.Sprintf(
					"table %s has impossible cells, and invariants and others of that kind share more of it than one of them has: whole counts that keep to all of these at once have no efficient way to be found", f.path(table)),
					"an invariant by all the attributes that the table shares with them, or no `integers` under `publish`")
			}
			f.add(Step{Margin: m, Table: f.find(m), Fixed: fixed})
		}
		f.add(Step{Margin: own, Table: table, Fixed: []FixedMargin{{m, f.within(m)}}, Impossible: true})
	}
	return nil
}

// meets are the largest of all margins of this one that steps have so far.
func (f *fitter) meets(m Margin) []FixedMargin {
	var all []Margin
	for _, s := range f.Steps {
		all = append(all, m.Meet(s.Margin))
	}
	return f.fixing(all)
}

// fixing are the largest of some margins, each from the coarsest step that has it.
func (f *fitter) fixing(all []Margin) []FixedMargin {
	var out []FixedMargin
	for _, one := range largest(all) {
		out = append(out, FixedMargin{one, f.within(one)})
	}
	slices.SortStableFunc(out, func(a, b FixedMargin) int { return cmp.Compare(b.depth(), a.depth()) })
	return out
}

// singles adds every chain by itself, level by level, as far as the tables with impossible cells do not say it.
func (f *fitter) singles() {
	for chain, c := range f.Chains {
		for level := 1; level <= len(c.Levels); level++ {
			m := single(len(f.Chains), chain, level)
			if f.within(m) < 0 {
				coarser := single(len(f.Chains), chain, level-1)
				f.add(Step{Margin: m, Table: f.find(m), Fixed: []FixedMargin{{coarser, f.within(coarser)}}})
			}
		}
	}
}

// crossing adds the tables of several attributes that are not margins of what is there.
func (f *fitter) crossing() error {
	many, _ := f.ordered(f.outermost(func(t Table) bool { return t.Margin.Ways() > 2 && f.within(t.Margin) < 0 }), 2)
	pairs := f.outermost(func(t Table) bool { return t.Margin.Ways() == 2 })
	slices.SortStableFunc(pairs,
		func(a, b int) int { return cmp.Compare(f.Tables[a].Margin.depth(), f.Tables[b].Margin.depth()) })
	for _, table := range append(many, pairs...) {
		m := f.Tables[table].Margin
		if f.within(m) >= 0 {
			continue
		}
		fixed, ok := joinable(f.standing(m))
		if !ok {
			others := f.othersText()
			return f.refuse(table, fmt.Sprintf(
				"table %s crosses %s in a circle, one of them of three attributes or more: whole counts that agree with all of these at once have no efficient way to be found in general", f.path(table), others),
				"tables of which each shares with those before it what one of them has, or tables of at most two attributes; or microdata of all their columns (`synthetic`), from which such tables are counted; or no `integers` under `publish`")
		}
		f.add(Step{Margin: m, Table: table, Fixed: fixed})
	}
	return nil
}

// standing are the largest of all margins of this one that stand: of each of its chains by itself, and what it shares
// with tables before.
func (f *fitter) standing(m Margin) []FixedMargin {
	var all []Margin
	for chain, level := range m {
		if level > 0 {
			all = append(all, single(len(m), chain, level))
		}
	}
	for _, at := range f.sharing(m) {
		if shared := m.Meet(f.Steps[at].Margin); shared.Ways() > 1 {
			all = append(all, shared)
		}
	}
	return f.fixing(all)
}

// joinable puts margins into an order in which all that each shares with those before lies within one of them; false
// where there is none.
func joinable(all []FixedMargin) ([]FixedMargin, bool) {
	margins := make([]Margin, len(all))
	for i, m := range all {
		margins[i] = m.Margin
	}
	places, ok := ears(margins, 1)
	out := make([]FixedMargin, len(all))
	for i, at := range places {
		out[i] = all[at]
	}
	return out, ok
}

// Cells is the number of cells of a margin.
func (f *Fitting) Cells(m Margin) int {
	n := 1
	for i, level := range m {
		n *= f.Chains[i].Size(level)
	}
	return n
}

// Project is, of each cell of a margin, the cell of one within it that it lies in.
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

// Places is, of each cell of a table in its own order of attributes, its cell in the margin's order.
func (f *Fitting) Places(t Table) []int32 {
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

// Masks are, by step, which cells are exact zeros, nil where none is: those that the spec says, and those that have
// nothing possible left in a table of a later step, but for those of no rows by an invariant. It fails where nothing is
// possible.
func (f *Fitting) Masks(p *plan.Plan) ([][]bool, error) {
	masks := make([][]bool, len(f.Steps))
	for i, s := range f.Steps {
		if !s.masked() {
			continue
		}
		t := f.Tables[s.Table]
		mask, err := impossible.Of(p.Query(p.Tables[t.At]), p.Release())
		if err != nil {
			return nil, err
		}
		masks[i] = make([]bool, f.Cells(s.Margin))
		own := mask.Cells()
		for cell, at := range f.Places(t) {
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
		for c, none := range f.empty(fixed.Margin) { // which need no cell
			dead[c] = dead[c] && !none
		}
		switch {
		case !slices.Contains(dead, true):
		case f.Steps[fixed.From].Given != nil:
			if err := f.emptied(p, i, dead); err != nil {
				return nil, err
			}
		case len(f.Steps[fixed.From].Fixed) > 1:
			t := p.Tables[f.Tables[f.Steps[i].Table].At]
			return nil, workload.At(p.Release(), "marginals."+t.Marginal,
				&workload.Fault{Key: "by",
					Message:  fmt.Sprintf("table %s has impossible cells where what invariants and others say of it crosses: whole counts that keep to all of these at once are not looked for", t.Path),
					Expected: "an invariant by all the attributes that the table shares with them, or no `integers` under `publish`"})
		case masks[fixed.From] == nil:
			t := p.Tables[f.Tables[f.Steps[i].Table].At]
			return nil, workload.At(p.Release(), "marginals."+t.Marginal,
				&workload.Fault{Key: "by",
					Message: fmt.Sprintf("`impossible` leaves no cell of table %s that is possible in all tables that share its columns", t.Path), Expected: "other entries under `impossible`, or fewer tables"})
		default:
			for cell, c := range f.Project(f.Steps[fixed.From].Margin, fixed.Margin) {
				masks[fixed.From][cell] = masks[fixed.From][cell] || dead[c]
			}
		}
	}
	return masks, nil
}
