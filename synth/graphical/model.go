package graphical

import (
	"context"
	"math"
	"slices"

	"github.com/dprelease/dprelease/budget"
)

// This file holds models: the measured marginals, and the law that they determine.

// Model is the law of the rows of a table, as far as measurements of marginals determine it.
//
// Internally attributes are numbered by rank: attributes with more categories have higher ranks, whatever their indexes
// in the domain of the caller.
type Model struct {
	domain  Domain // by rank
	ranks   []int  // by index
	indexes []int  // indexes by rank
	given   Clique // indexes of the attributes that rows have before they are drawn
	total   float64
	graph   *graph
	order   []int // of the last elimination; nil: an edge was added that its tree did not have
	terms   []*term
	size    Size

	now  *calibrated // nil before the first measurement and after each one; [Model.calibrated] computes it
	next *calibrated // scratch of the fit
	step float64     // step size of the fit: the last one that was accepted, adjusted
}

// term is a factor of the law, over the attributes of a measurement.
type term struct {
	of     Clique    // ranks
	noisy  []float64 // nil: only impossible cells are known
	weight []float64 // 1/variance of each count
	theta  []float64 // logarithms of the factor
	never  []bool    // impossible cells; nil: none

	// Position in the present tree.
	inside    *term   // a term that has all its attributes; nil: it is multiplied into the table of host
	contained []*term // the terms inside it
	sweep     *sweep  // over its own table, with those of contained
	host      int
	counts    []float64 // that the model expects
	trial     []float64 // that the model would expect after a trial step
	move      []float64 // change of theta in the trial step or, before there is one, in the last step
	factor    []float64
}

// New returns the model of rows of which only the number is known: every cell is equally likely. Rows are drawn given
// the values of some attributes, which may be none.
func New(d Domain, given Clique, total float64) *Model {
	m := &Model{ranks: make([]int, len(d)), indexes: make([]int, len(d)), given: given}
	for place := range d {
		m.indexes[place] = place
	}
	slices.SortStableFunc(m.indexes, func(a, b int) int { return d[a] - d[b] })
	for rank, place := range m.indexes {
		m.ranks[place] = rank
		m.domain = append(m.domain, d[place])
	}
	m.graph = newGraph(m.domain, m.rankClique(given))
	m.SetTotal(total)
	m.size = m.graph.greedyElimination().size
	return m
}

// SetTotal sets the number of rows, to at least 1.
func (m *Model) SetTotal(total float64) {
	m.total, m.now = max(total, 1), nil
}

// Total returns the number of rows.
func (m *Model) Total() float64 { return m.total }

// Size returns the size of the tree that the model needs.
func (m *Model) Size() Size { return m.size }

// Tree returns the tree of the model, with the attribute indexes of the caller.
func (m *Model) Tree() *Tree {
	have := m.calibrated().Tree
	t := &Tree{Parent: have.Parent}
	for i := range have.Cliques {
		t.Cliques = append(t.Cliques, m.indexClique(have.Cliques[i]))
		t.Shared = append(t.Shared, m.indexClique(have.Shared[i]))
	}
	return t
}

// Step is one attribute to be drawn, with the earlier attributes of the row that it depends on.
type Step struct {
	Attribute int
	Given     Clique
}

// Steps returns the attributes that are not given, in an order in which rows can be drawn by the law of the model given
// those that are: each attribute by its law given the attributes of its step. One clique of the tree has all of them.
//
// A clique's parent comes before it, so the attributes of the clique that a row has by then are those it shares with
// its parent, and given ones. Given all attributes of the row so far, the rest of the clique depends only on these:
// other cliques that were visited lie beyond what is shared, and given attributes of others lie beyond given
// attributes, as the tree is strong.
func (m *Model) Steps() []Step {
	var steps []Step
	known := slices.Clone(m.given)
	for _, clique := range m.Tree().Cliques {
		for _, a := range clique.without(known) {
			steps = append(steps, Step{a, clique.intersection(known)})
			known = known.union(Clique{a})
		}
	}
	return steps
}

// ranksOf returns the ranks of a clique's attributes, in the order of the clique.
func (m *Model) ranksOf(c Clique) []int {
	return renamed(c, m.ranks)
}

// renamed returns the names of a clique's attributes, in the order of the clique.
func renamed(c Clique, names []int) []int {
	out := make([]int, len(c))
	for i, a := range c {
		out[i] = names[a]
	}
	return out
}

// rankClique converts a clique of indexes to one of ranks.
func (m *Model) rankClique(c Clique) Clique {
	return slices.Sorted(slices.Values(m.ranksOf(c)))
}

// indexClique converts a clique of ranks to one of indexes.
func (m *Model) indexClique(c Clique) Clique {
	return slices.Sorted(slices.Values(renamed(c, m.indexes)))
}

// SizeWith returns an upper bound of the size that the model would have with a measurement of this clique.
func (m *Model) SizeWith(c Clique) Size {
	ranks := m.rankClique(c)
	if m.isHosted(ranks) {
		return m.size
	}
	return m.graph.withClique(ranks).greedyElimination().size
}

// SizesWith returns SizeWith of each clique. Sizes not computed before the context ended are zero.
func (m *Model) SizesWith(ctx context.Context, cliques []Clique) []Size {
	sizes := make([]Size, len(cliques))
	m.calibrated()
	bothUntil(ctx, len(cliques), func(i int) { sizes[i] = m.SizeWith(cliques[i]) })
	return sizes
}

// isHosted reports whether one clique of the tree has all attributes of another.
func (m *Model) isHosted(c Clique) bool {
	return m.calibrated().smallestHost(m.domain, c) >= 0
}

// Measure adds a measurement of the counts of a clique, row-major, with independent noise of these variances. It pools
// an earlier measurement of the same clique with this one by inverse variance.
//
// The law moves at once most of the way that the new counts suggest, cell by cell, and the less the noisier they are
// relative to what the model expects, so that [Model.Fit] has little left to do.
func (m *Model) Measure(c Clique, noisy, variance []float64) {
	expected, ranks := m.byRank(c, m.Marginal(c)), m.rankClique(c)
	noisy, variance = m.byRank(c, noisy), m.byRank(c, variance)
	t := m.termOf(ranks)
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

// byRank returns a table over a clique with its axes in the order of their ranks.
func (m *Model) byRank(c Clique, table []float64) []float64 {
	return array{m.ranksOf(c), table}.reordered(m.domain, m.rankClique(c)).values
}

// DeclareImpossible declares cells of a clique impossible. Some cells must stay possible.
func (m *Model) DeclareImpossible(c Clique, cells []bool) {
	t := m.termOf(m.rankClique(c))
	if t.never == nil {
		t.never = make([]bool, len(cells))
	}
	mask := make([]float64, len(cells))
	for i, never := range cells {
		if never {
			mask[i] = 1
		}
	}
	for i, never := range m.byRank(c, mask) {
		t.never[i] = t.never[i] || never == 1
	}
}

// termOf returns the term of a clique of ranks, which it adds if there is none.
func (m *Model) termOf(c Clique) *term {
	if !m.isHosted(c) {
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
	m.graph.addClique(c)
	return t
}

// calibrated returns the present law.
func (m *Model) calibrated() *calibrated {
	if m.now == nil {
		best := m.graph.bestElimination(m.order)
		m.size, m.order = best.size, best.order
		tree := best.junctionTree()
		m.now = newCalibrated(m.domain, tree, m.hostTerms(tree))
		m.deriveTables()
	}
	return m.now
}

// hostTerms finds for every term where it is multiplied in: into a larger term if one has its attributes, which takes
// less time than into a clique. It returns the cliques of the other terms, by the clique of the tree that hosts them.
func (m *Model) hostTerms(tree *Tree) [][]Clique {
	hosted := make([][]Clique, len(tree.Cliques))
	for _, t := range m.terms {
		t.contained = nil
	}
	for i, t := range m.terms {
		t.inside = nil
		for _, other := range m.terms[i+1:] {
			if len(other.of) > len(t.of) && other.of.holds(t.of) &&
				(t.inside == nil || len(other.theta) < len(t.inside.theta)) {
				t.inside = other
			}
		}
		if t.inside != nil {
			t.inside.contained = append(t.inside.contained, t)
			continue
		}
		t.host = tree.smallestHost(m.domain, t.of)
		hosted[t.host] = append(hosted[t.host], t.of)
	}
	for _, t := range m.terms {
		var small []Clique
		for _, other := range t.contained {
			small = append(small, other.of)
		}
		t.sweep = newSweep(m.domain, t.of, small...)
	}
	return hosted
}

// deriveTables computes the tables of the cliques from the terms only, so that no error of earlier steps is left in
// them.
func (m *Model) deriveTables() {
	for _, t := range m.terms {
		most := math.Inf(-1)
		for i, v := range t.theta {
			if t.never == nil || !t.never[i] {
				most = max(most, v)
			}
		}
		for i, v := range t.theta {
			if t.factor[i] = 0; t.never == nil || !t.never[i] {
				t.factor[i] = expNearZero(v - most)
			}
		}
	}
	if whole, _ := m.propagate(m.now, nil); !whole {
		m.setLogarithms()
		m.now.calibrateLogs(m.total)
		m.fillTrialCounts()
	}
	for _, t := range m.terms {
		t.counts, t.trial = t.trial, t.counts
	}
}

// propagate computes the law that has the factors of another (nil for none) and those of the terms, and sets trial of
// every term to the counts that the law expects.
func (m *Model) propagate(law, from *calibrated) (whole, sound bool) {
	factors, counts := make([][]operand, len(law.Cliques)), make([][]operand, len(law.Cliques))
	for _, t := range m.terms { // terms inside others come before them
		clear(t.trial)
		var inside []operand
		for i, other := range t.contained {
			inside = append(inside, operand{i, other.factor})
		}
		if t.contained != nil {
			t.sweep.run(t.factor, t.factor, 1, inside, nil)
		}
		if t.inside == nil {
			factors[t.host] = append(factors[t.host], operand{len(factors[t.host]), t.factor})
			counts[t.host] = append(counts[t.host], operand{len(counts[t.host]), t.trial})
		}
	}
	if whole, sound = law.calibrate(from, m.total, factors, counts); sound {
		m.projectTrials()
	}
	return whole, sound
}

// projectTrials sets trial of every term inside another from trial of the other.
func (m *Model) projectTrials() {
	for _, t := range slices.Backward(m.terms) { // terms inside others come after them
		var inside []operand
		for i, other := range t.contained {
			inside = append(inside, operand{i, other.trial})
		}
		if t.contained != nil {
			t.sweep.run(nil, t.trial, 1, nil, inside)
		}
	}
}

// setLogarithms sets the table of every clique to the sum of the logarithms of its factors.
func (m *Model) setLogarithms() {
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
	for _, t := range m.terms { // terms inside others come before them
		for view, other := range t.contained {
			t.sweep.visitCells(view, func(large, small int) { t.factor[large] += other.factor[small] })
		}
		if t.inside == nil {
			table := m.now.tables[t.host]
			m.now.sweeps[t.host].visitCells(hosted[t.host], func(large, small int) { table[large] += t.factor[small] })
			hosted[t.host]++
		}
	}
}

// fillTrialCounts sets trial of every term to the counts of its cells that the present law expects.
func (m *Model) fillTrialCounts() {
	hosted := make([]int, len(m.now.tables))
	for _, t := range m.terms {
		clear(t.trial)
		if t.inside == nil {
			m.now.sweeps[t.host].run(nil, m.now.tables[t.host], 1, nil, []operand{{hosted[t.host], t.trial}})
			hosted[t.host]++
		}
	}
	m.projectTrials()
}
