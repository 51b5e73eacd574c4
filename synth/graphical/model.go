package graphical

import (
	"context"
	"math"
	"slices"

	"github.com/dprelease/dprelease/budget"
)

// This file holds models: what is known of marginals, and the law that is made of it.

// Model is the law of the rows of a table, as far as measurements of marginals tell it.
//
// Attributes are known inside by their ranks: those with more categories come later, whatever their places.
type Model struct {
	domain Domain // by rank
	ranks  []int  // by place
	places []int  // by rank
	given  Clique // places of the attributes that rows have before they are drawn
	total  float64
	graph  *graph
	order  []int // in which it was last eliminated; nil: an edge was added that its tree did not have
	terms  []*term
	size   Size

	now  *calibrated // nil before the first measurement and after each; [Model.derive] makes it
	next *calibrated // scratch of the fit
	step float64     // of the fit, as large as the last one found right
}

// term is a factor of the law, over the attributes of a measurement.
type term struct {
	of     Clique    // ranks
	noisy  []float64 // nil: it is known of some cells that no row is in them, and nothing else
	weight []float64 // 1/variance of each
	theta  []float64 // logarithms of the factor
	never  []bool    // cells that no row is in; nil: none

	// How it lies in the present tree.
	inside *term   // a term that holds its attributes; nil: it is multiplied into the table of host
	holds  []*term // that are inside it
	sweep  *sweep  // over its own table, with those of holds
	host   int
	counts []float64 // that the model expects
	trial  []float64 // that a step of the fit would
	move   []float64 // of theta, in that step or, before it is made, in the last one
	factor []float64
}

// New is the model of rows of which nothing is known but their number: every cell has as many. Rows are drawn given
// some attributes, or with none of them given.
func New(d Domain, given Clique, total float64) *Model {
	m := &Model{ranks: make([]int, len(d)), places: make([]int, len(d)), given: given}
	for place := range d {
		m.places[place] = place
	}
	slices.SortStableFunc(m.places, func(a, b int) int { return d[a] - d[b] })
	for rank, place := range m.places {
		m.ranks[place] = rank
		m.domain = append(m.domain, d[place])
	}
	m.graph = newGraph(m.domain, m.inside(given))
	m.SetTotal(total)
	m.size = m.graph.greedy().size
	return m
}

// SetTotal sets the number of rows, 1 at least.
func (m *Model) SetTotal(total float64) {
	m.total, m.now = max(total, 1), nil
}

// Total is the number of rows.
func (m *Model) Total() float64 { return m.total }

// Size is the cells of the tree that the model needs.
func (m *Model) Size() Size { return m.size }

// Tree is the tree of the model.
func (m *Model) Tree() *Tree {
	have := m.calibrated().Tree
	t := &Tree{Parent: have.Parent}
	for i := range have.Cliques {
		t.Cliques, t.Shared = append(t.Cliques, m.placed(have.Cliques[i])), append(t.Shared, m.placed(have.Shared[i]))
	}
	return t
}

// Step is one attribute of rows that are drawn, and those that they have before, which it depends on.
type Step struct {
	Attribute int
	Given     Clique
}

// Steps are the attributes that are not given, in an order in which rows can be drawn by the law of the model given
// those that are: each attribute by its law given those of its step, which one clique of the tree holds with it.
//
// A clique's parent comes before it, so what rows have of its attributes by then is what both share, and what is given.
// Of all that they have, the rest of the clique depends on this alone: other cliques that have been passed lie beyond
// what is shared, and what is given in others yet beyond given attributes, as the tree is strong.
func (m *Model) Steps() []Step {
	var steps []Step
	known := slices.Clone(m.given)
	for _, clique := range m.Tree().Cliques {
		for _, a := range clique.without(known) {
			steps = append(steps, Step{a, clique.common(known)})
			known = known.union(Clique{a})
		}
	}
	return steps
}

// ranked is a clique by rank, in the order of its places.
func (m *Model) ranked(c Clique) []int {
	return renamed(c, m.ranks)
}

// renamed is the names of the attributes of a clique, in its order.
func renamed(c Clique, names []int) []int {
	out := make([]int, len(c))
	for i, a := range c {
		out[i] = names[a]
	}
	return out
}

// inside is a clique of ranks, given its places.
func (m *Model) inside(c Clique) Clique {
	return slices.Sorted(slices.Values(m.ranked(c)))
}

// placed is a clique of places, given its ranks.
func (m *Model) placed(c Clique) Clique {
	return slices.Sorted(slices.Values(renamed(c, m.places)))
}

// SizeWith is the size that the model would have at most with a measurement of this clique.
func (m *Model) SizeWith(c Clique) Size {
	ranks := m.inside(c)
	if m.joined(ranks) {
		return m.size
	}
	return m.graph.with(ranks).greedy().size
}

// SizesWith is SizeWith of each of many cliques, but of those that are left once the context has ended.
func (m *Model) SizesWith(ctx context.Context, cliques []Clique) []Size {
	sizes := make([]Size, len(cliques))
	m.calibrated()
	bothUntil(ctx, len(cliques), func(i int) { sizes[i] = m.SizeWith(cliques[i]) })
	return sizes
}

// joined reports whether one clique of the tree holds another.
func (m *Model) joined(c Clique) bool {
	return m.calibrated().host(m.domain, c) >= 0
}

// Measure adds a measurement of the counts of a clique, row-major, with independent noise of these variances. One of
// the same clique before is pooled with it by inverse variance.
//
// The law moves at once most of the way that the new counts suggest, cell by cell and the less the noisier they are
// beside what the model expects, so that [Model.Fit] has little left to do.
func (m *Model) Measure(c Clique, noisy, variance []float64) {
	expected, ranks := m.ordered(c, m.Marginal(c)), m.inside(c)
	noisy, variance = m.ordered(c, noisy), m.ordered(c, variance)
	t := m.term(ranks)
	if t.noisy == nil {
		t.noisy, t.weight = make([]float64, len(noisy)), make([]float64, len(noisy))
	}
	for i, y := range noisy {
		t.weight[i] += 1 / variance[i]
		t.noisy[i] += (y - t.noisy[i]) / float64(variance[i]*t.weight[i])
		if z := expected[i]; z > 0 {
			squared := float64(z * z)
			target := z + float64(squared/(squared+1/t.weight[i])*(t.noisy[i]-z))
			t.theta[i] += budget.Log(max(target/z, 0.1))
		}
	}
}

// ordered is a table over a clique with its axes in the order of their ranks.
func (m *Model) ordered(c Clique, table []float64) []float64 {
	return array{m.ranked(c), table}.arranged(m.domain, m.inside(c)).values
}

// Never says of cells of a clique that no row is in them. They must leave some cells possible.
func (m *Model) Never(c Clique, cells []bool) {
	t := m.term(m.inside(c))
	if t.never == nil {
		t.never = make([]bool, len(cells))
	}
	mask := make([]float64, len(cells))
	for i, never := range cells {
		if never {
			mask[i] = 1
		}
	}
	for i, never := range m.ordered(c, mask) {
		t.never[i] = t.never[i] || never == 1
	}
}

// term is that of a clique of ranks, which is added where there is none.
func (m *Model) term(c Clique) *term {
	if !m.joined(c) {
		m.order = nil
	}
	m.now, m.next = nil, nil
	for _, t := range m.terms {
		if slices.Equal(t.of, c) {
			return t
		}
	}
	n := int(m.domain.Cells(c))
	t := &term{of: slices.Clone(c), theta: make([]float64, n), counts: make([]float64, n), trial: make([]float64, n),
		move: make([]float64, n), factor: make([]float64, n)}
	m.terms = append(m.terms, t)
	slices.SortStableFunc(m.terms, func(a, b *term) int { return len(a.of) - len(b.of) })
	m.graph.add(c)
	return t
}

// calibrated is the law as it stands.
func (m *Model) calibrated() *calibrated {
	if m.now == nil {
		best := m.graph.smallest(m.order)
		m.size, m.order = best.size, best.order
		tree := best.tree()
		m.now = newCalibrated(m.domain, tree, m.lay(tree))
		m.derive()
	}
	return m.now
}

// lay finds for every term where it is multiplied in: into a larger one where there is such, which takes less time than
// into a clique. It returns the cliques of the others, by the clique of the tree that hosts them.
func (m *Model) lay(tree *Tree) [][]Clique {
	hosted := make([][]Clique, len(tree.Cliques))
	for _, t := range m.terms {
		t.holds = nil
	}
	for i, t := range m.terms {
		t.inside = nil
		for _, other := range m.terms[i+1:] {
			if len(other.of) > len(t.of) && other.of.holds(t.of) && (t.inside == nil || len(other.theta) < len(t.inside.theta)) {
				t.inside = other
			}
		}
		if t.inside != nil {
			t.inside.holds = append(t.inside.holds, t)
			continue
		}
		t.host = tree.host(m.domain, t.of)
		hosted[t.host] = append(hosted[t.host], t.of)
	}
	for _, t := range m.terms {
		var small []Clique
		for _, other := range t.holds {
			small = append(small, other.of)
		}
		t.sweep = newSweep(m.domain, t.of, small...)
	}
	return hosted
}

// derive makes the tables of the cliques from the terms alone, so that no error of earlier steps is left in them.
func (m *Model) derive() {
	for _, t := range m.terms {
		most := math.Inf(-1)
		for i, v := range t.theta {
			if t.never == nil || !t.never[i] {
				most = max(most, v)
			}
		}
		for i, v := range t.theta {
			if t.factor[i] = 0; t.never == nil || !t.never[i] {
				t.factor[i] = exponential(v - most)
			}
		}
	}
	if whole, _ := m.spread(m.now, nil); !whole {
		m.logs()
		m.now.calibrateLogs(m.total)
		m.expect()
	}
	for _, t := range m.terms {
		t.counts, t.trial = t.trial, t.counts
	}
}

// spread makes the law that has the factors of another, nil for none, and those of the terms, and sets trial of every
// term to the counts that it expects.
func (m *Model) spread(law, from *calibrated) (whole, sound bool) {
	factors, counts := make([][]operand, len(law.Cliques)), make([][]operand, len(law.Cliques))
	for _, t := range m.terms { // those inside others come before them
		clear(t.trial)
		var inside []operand
		for i, other := range t.holds {
			inside = append(inside, operand{i, other.factor})
		}
		if t.holds != nil {
			t.sweep.run(t.factor, t.factor, 1, inside, nil)
		}
		if t.inside == nil {
			factors[t.host] = append(factors[t.host], operand{len(factors[t.host]), t.factor})
			counts[t.host] = append(counts[t.host], operand{len(counts[t.host]), t.trial})
		}
	}
	if whole, sound = law.calibrate(from, m.total, factors, counts); sound {
		m.within()
	}
	return whole, sound
}

// within sets trial of every term inside another by that of the other.
func (m *Model) within() {
	for _, t := range slices.Backward(m.terms) { // those inside others come after them
		var inside []operand
		for i, other := range t.holds {
			inside = append(inside, operand{i, other.trial})
		}
		if t.holds != nil {
			t.sweep.run(nil, t.trial, 1, nil, inside)
		}
	}
}

// logs sets the table of every clique to the sum of the logarithms of its factors.
func (m *Model) logs() {
	for _, table := range m.now.tables {
		clear(table)
	}
	for _, t := range m.terms {
		copy(t.factor, t.theta)
		for i, never := range t.never {
			if never {
				t.factor[i] = math.Inf(-1)
			}
		}
	}
	hosted := make([]int, len(m.now.tables))
	for _, t := range m.terms { // those inside others come before them
		for view, other := range t.holds {
			t.sweep.pairs(view, func(large, small int) { t.factor[large] += other.factor[small] })
		}
		if t.inside == nil {
			table := m.now.tables[t.host]
			m.now.sweeps[t.host].pairs(hosted[t.host], func(large, small int) { table[large] += t.factor[small] })
			hosted[t.host]++
		}
	}
}

// expect sets trial of every term to the counts of the law.
func (m *Model) expect() {
	hosted := make([]int, len(m.now.tables))
	for _, t := range m.terms {
		clear(t.trial)
		if t.inside == nil {
			m.now.sweeps[t.host].run(nil, m.now.tables[t.host], 1, nil, []operand{{hosted[t.host], t.trial}})
			hosted[t.host]++
		}
	}
	m.within()
}
