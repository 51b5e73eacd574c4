package fitting

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/attributes"
	"github.com/dprelease/dprelease/plan/workload"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/domain"
)

// This file holds the steps of a fitting that invariants decide.

// addGiven adds the total, and what invariants decide, with which all others agree: of each invariant the finest
// margins of all chains. What is within another invariant's margin is the same there, as invariants do not contradict
// each other.
func (f *fitter) addGiven(confidential *spec.Table) {
	var all []Step
	for _, i := range f.invariants {
		for _, m := range f.decidedMargins(confidential, i) {
			all = append(all, Step{Margin: m, Table: f.tableWith(m), Given: f.sumFigures(confidential, i, m),
				Invariant: i.Name})
		}
	}
	none := make(Margin, len(f.Chains))
	total := Step{Margin: none, Table: f.tableWith(none)}
	for _, i := range f.invariants[:min(1, len(f.invariants))] {
		total.Given, total.Invariant = []int64{i.Total()}, i.Name
	}
	f.addStep(total)
	slices.SortStableFunc(all, func(a, b Step) int { return cmp.Compare(b.Margin.depth(), a.Margin.depth()) })
	for _, s := range all {
		if f.containingStep(s.Margin) < 0 {
			f.addStep(s)
		}
	}
}

// decidedMargins returns the finest margins that an invariant decides: for each of its attributes, the finest level
// in one of the chains of its column.
func (f *fitter) decidedMargins(confidential *spec.Table, i spec.Invariant) []Margin {
	out := []Margin{make(Margin, len(f.Chains))}
	for _, a := range attributes.CountedBy(confidential, i.By) {
		var next []Margin
		for k, c := range f.Chains {
			level := decidedLevel(c, confidential, a)
			for _, m := range out {
				if level > 0 {
					m = slices.Clone(m)
					m[k] = level
					next = append(next, m)
				}
			}
		}
		out = next
	}
	return out
}

// decidedLevel returns the finest level of a chain that an attribute decides, 0 for none.
func decidedLevel(c workload.Chain, confidential *spec.Table, a spec.Attribute) int {
	for level := len(c.Levels); level > 0; level-- {
		if _, ok := attributes.CoarserCategories(confidential, a, c.Attribute(level)); ok {
			return level
		}
	}
	return 0
}

// sumFigures adds the figures of an invariant up to a margin that it decides.
func (f *fitter) sumFigures(confidential *spec.Table, i spec.Invariant, m Margin) []int64 {
	by := attributes.CountedBy(confidential, i.By)
	of, strides := make([][]int, len(by)), make([]int, len(by))
	stride := 1
	for k := len(m) - 1; k >= 0; k-- {
		if m[k] == 0 {
			continue
		}
		c := f.Chains[k]
		at := slices.IndexFunc(by, func(a spec.Attribute) bool { return a.Column == c.Column })
		of[at], _ = attributes.CoarserCategories(confidential, by[at], c.Attribute(m[k]))
		strides[at] = stride
		stride *= c.Size(m[k])
	}
	out := make([]int64, stride)
	for cell, at := range attributes.CellIndices(confidential, by, of, strides) {
		out[at] += i.Counts[cell]
	}
	return out
}

// emptyCells marks the cells of a margin that have no rows by some invariant; nil for none.
func (f *Fitting) emptyCells(m Margin) []bool {
	var out []bool
	for _, s := range f.Steps {
		if s.Given == nil {
			continue
		}
		shared := m.Meet(s.Margin)
		rows := make([]int64, f.Cells(shared))
		for cell, c := range f.Project(s.Margin, shared) {
			rows[c] += s.Given[cell]
		}
		if !slices.Contains(rows, 0) {
			continue
		}
		if out == nil {
			out = make([]bool, f.Cells(m))
		}
		for cell, c := range f.Project(m, shared) {
			out[cell] = out[cell] || rows[c] == 0
		}
	}
	return out
}

// checkEmptied returns an error if rows that an invariant has would be in cells of a later table of which none is
// possible. dead marks these cells, of the margin with which the table's step agrees.
func (f *Fitting) checkEmptied(p *plan.Plan, step int, dead []bool) error {
	fixed := f.Steps[step].Fixed[0]
	from := f.Steps[fixed.From]
	rows := make([]int64, len(dead))
	for cell, c := range f.Project(from.Margin, fixed.Margin) {
		rows[c] += from.Given[cell]
	}
	for c, n := range rows {
		if dead[c] && n > 0 {
			t := p.Tables[f.Tables[f.Steps[step].Table].Index]
			return workload.LocateFault(p.Release(), "invariants."+from.Invariant,
				&workload.Fault{Key: "",
					Message: fmt.Sprintf("invariant %s has %s for which `impossible` leaves no cell in table %s and "+
						"those that share its columns", from.Invariant, budget.Plural(n, "row"), t.Path),
					Expected: "0 there, or other entries under `impossible`"})
		}
	}
	return nil
}

// checkInvariants returns an error if a fitted table would not agree with an invariant: if both distinguish more
// categories of a column than the finest level that the invariant decides in the table's chain, because the
// invariant's own level is in another chain. Tables that an invariant decides show its figures.
func checkInvariants(p *plan.Plan, c plan.Consistency, f *Fitting) error {
	confidential := p.Release().Table(c.Table)
	groups := map[[2]spec.Attribute]int{}
	for _, i := range p.Release().Invariants {
		if i.Table != c.Table {
			continue
		}
		for _, a := range attributes.CountedBy(confidential, i.By) {
			for _, of := range f.Tables {
				t := p.Tables[of.Index]
				if isDecided(t) {
					continue
				}
				for k, own := range attributes.CountedBy(confidential, t.Attributes()) {
					if own.Column != a.Column {
						continue
					}
					pair := [2]spec.Attribute{own, a}
					if groups[pair] == 0 {
						groups[pair] = commonGroups(confidential, own, a)
					}
					chain := f.Chains[of.Order[k]]
					if kept := chain.Size(min(of.Margin[of.Order[k]],
						decidedLevel(chain, confidential, a))); kept < groups[pair] {
						return workload.LocateFault(p.Release(), "invariants."+i.Name,
							&workload.Fault{Key: "",
								Message: fmt.Sprintf("invariant %s has figures by %s that counts of table %s by %s "+
									"add up to, but that table is made to add up along %s, which %s crosses: it "+
									"would not keep to the figures", i.Name, a, t.Path, own, chain, a),
								Expected: fmt.Sprintf("an invariant by one of these levels; no table or other "+
									"invariant by levels of %s that cross %s; or no `integers` under `publish`",
									a.Column, a)})
					}
				}
			}
		}
	}
	return nil
}

// commonGroups returns the number of groups of categories that two attributes of one column both distinguish.
func commonGroups(confidential *spec.Table, first, second spec.Attribute) int {
	of := confidential.Column(first.Column).Domain
	one, _ := of.Level(first.Level)
	other, _ := of.Level(second.Level)
	_, _, groups := domain.Merged(of.Size(), one, other)
	return groups
}
