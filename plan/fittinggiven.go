package plan

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/spec"
)

// This file holds the steps of a fitting that invariants decide.

// given adds the total, and what invariants decide, which all others keep to: of each the finest margins of all chains. What lies
// within another one's is the same there, as invariants do not contradict each other.
func (f *fitter) given(confidential *spec.Table) {
	var all []FittingStep
	for _, i := range f.invariants {
		for _, m := range f.decided(confidential, i) {
			all = append(all, FittingStep{Margin: m, Table: f.find(m), Given: f.sums(confidential, i, m), Invariant: i.Name})
		}
	}
	none := make(Margin, len(f.Chains))
	total := FittingStep{Margin: none, Table: f.find(none)}
	if len(f.invariants) > 0 {
		total.Given, total.Invariant = []int64{f.invariants[0].Total()}, f.invariants[0].Name
	}
	f.add(total)
	slices.SortStableFunc(all, func(a, b FittingStep) int { return cmp.Compare(b.Margin.depth(), a.Margin.depth()) })
	for _, s := range all {
		if f.within(s.Margin) < 0 {
			f.add(s)
		}
	}
}

// decided are the finest margins that an invariant decides: of each of its attributes, the finest level in one of the chains of its
// column.
func (f *fitter) decided(confidential *spec.Table, i spec.Invariant) []Margin {
	out := []Margin{make(Margin, len(f.Chains))}
	for _, a := range counted(confidential, i.By) {
		var next []Margin
		for k, c := range f.Chains {
			level := 0
			for l, name := range c.names {
				if _, ok := decides(confidential, a, spec.Attribute{Column: c.Column, Level: name}); ok && c.Column == a.Column {
					level = l + 1
				}
			}
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

// sums adds the figures of an invariant up to a margin that it decides.
func (f *fitter) sums(confidential *spec.Table, i spec.Invariant, m Margin) []int64 {
	by := counted(confidential, i.By)
	of, strides := make([][]int, len(by)), make([]int, len(by))
	stride := 1
	for k := len(m) - 1; k >= 0; k-- {
		if m[k] == 0 {
			continue
		}
		c := f.Chains[k]
		at := slices.IndexFunc(by, func(a spec.Attribute) bool { return a.Column == c.Column })
		of[at], _ = decides(confidential, by[at], spec.Attribute{Column: c.Column, Level: c.names[m[k]-1]})
		strides[at] = stride
		stride *= c.Size(m[k])
	}
	out := make([]int64, stride)
	for cell, at := range placesOf(confidential, by, of, strides) {
		out[at] += i.Counts[cell]
	}
	return out
}

// empty marks the cells of a margin that have no rows by some invariant; nil for none.
func (f *Fitting) empty(m Margin) []bool {
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

// emptied fails where rows that an invariant has would be in cells of a later table of which none is possible: those marked of the
// margin that the table's step keeps to.
func (f *Fitting) emptied(p *Plan, step int, dead []bool) error {
	fixed := f.Steps[step].Fixed[0]
	from := f.Steps[fixed.From]
	rows := make([]int64, len(dead))
	for cell, c := range f.Project(from.Margin, fixed.Margin) {
		rows[c] += from.Given[cell]
	}
	for c, n := range rows {
		if dead[c] && n > 0 {
			t := p.Tables[f.Tables[f.Steps[step].Table].At]
			return at(p.release, "invariants."+from.Invariant, &fault{"", fmt.Sprintf("invariant %s has %s for which `impossible` leaves no cell in table %s and those that share its columns", from.Invariant, budget.Plural(n, "row"), t.Path),
				"0 there, or other entries under `impossible`"})
		}
	}
	return nil
}
