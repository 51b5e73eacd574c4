package graphical

import (
	"math"
	"slices"

	"github.com/dprelease/dprelease/budget"
)

// This file holds models: what is known of marginals, and the law that is made of it.

// Model is the law of the rows of a table, as far as measurements of marginals tell it.
type Model struct {
	domain Domain
	total  float64
	graph  *graph
	terms  []*term
	size   Size

	now  *calibrated // nil before the first measurement and after each; [Model.derive] makes it
	next *calibrated // scratch of the fit
	step float64     // of the fit, as large as the last one found right
}

// term is a factor of the law, over the attributes of a measurement.
type term struct {
	of     Clique
	noisy  []float64 // nil: it is known of some cells that no row is in them, and nothing else
	weight []float64 // 1/variance of each
	theta  []float64 // logarithms of the factor
	never  []bool    // cells that no row is in; nil: none

	// How it lies in the present tree.
	inside *term // a term that holds its attributes; nil: it is multiplied into the table of host
	host   int
	walk   walk      // over the table of inside or host
	counts []float64 // that the model expects
	trial  []float64 // that a step of the fit would
	move   []float64 // of theta, in that step
	factor []float64
}

// New is the model of rows of which nothing is known but their number: every cell has as many.
func New(d Domain, total float64) *Model {
	m := &Model{domain: slices.Clone(d), graph: newGraph(d)}
	m.SetTotal(total)
	_, m.size = m.graph.tree()
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

// Tables is the tree of the model, and the counts that it expects of each clique, which must not be changed.
func (m *Model) Tables() (*Tree, [][]float64) {
	c := m.calibrated()
	return c.Tree, c.tables
}

// SizeWith is the size that the model would have at most with a measurement of this clique.
func (m *Model) SizeWith(c Clique) Size {
	if m.joined(c) {
		return m.size
	}
	return m.graph.with(c).eliminate(nil).size
}

// joined tells whether one clique of the tree holds another.
func (m *Model) joined(c Clique) bool {
	return m.host(c) >= 0
}

// host is the clique of the tree with the fewest cells that holds one; −1: none does.
func (m *Model) host(c Clique) int {
	best := -1
	for i, have := range m.calibrated().Cliques {
		if have.holds(c) && (best < 0 || m.domain.Cells(have) < m.domain.Cells(m.now.Cliques[best])) {
			best = i
		}
	}
	return best
}

// Measure adds a measurement of the counts of a clique, row-major, with independent noise of these variances. One of the
// same clique before is pooled with it by inverse variance.
//
// The law moves at once most of the way that the new counts suggest, cell by cell and the less the noisier they are
// beside what the model expects, so that [Model.Fit] has little left to do.
func (m *Model) Measure(c Clique, noisy, variance []float64) {
	expected := m.Marginal(c)
	t := m.term(c)
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

// Never says of cells of a clique that no row is in them. They must leave some cells possible.
func (m *Model) Never(c Clique, cells []bool) {
	t := m.term(c)
	if t.never == nil {
		t.never = make([]bool, len(cells))
	}
	for i, never := range cells {
		t.never[i] = t.never[i] || never
	}
}

// term is that of a clique, which is added where there is none.
func (m *Model) term(c Clique) *term {
	added := !m.joined(c)
	m.now, m.next = nil, nil
	for _, t := range m.terms {
		if slices.Equal(t.of, c) {
			return t
		}
	}
	n := int(m.domain.Cells(c))
	t := &term{of: slices.Clone(c), theta: make([]float64, n), counts: make([]float64, n), trial: make([]float64, n), move: make([]float64, n), factor: make([]float64, n)}
	m.terms = append(m.terms, t)
	slices.SortStableFunc(m.terms, func(a, b *term) int { return len(a.of) - len(b.of) })
	if added {
		m.graph.add(c)
	}
	return t
}

// calibrated is the law as it stands.
func (m *Model) calibrated() *calibrated {
	if m.now == nil {
		tree, size := m.graph.tree()
		m.size = size
		m.now = newCalibrated(m.domain, tree)
		m.lay()
		m.derive()
	}
	return m.now
}

// lay finds for every term where it is multiplied in: into a larger one where there is such, which takes less time than
// into a clique.
func (m *Model) lay() {
	for i, t := range m.terms {
		t.inside = nil
		for _, other := range m.terms[i+1:] {
			if len(other.of) > len(t.of) && other.of.holds(t.of) && (t.inside == nil || len(other.theta) < len(t.inside.theta)) {
				t.inside = other
			}
		}
		if t.inside != nil {
			t.walk = newWalk(m.domain, t.inside.of, t.of)
			continue
		}
		t.host = -1
		for j, have := range m.now.Cliques {
			if have.holds(t.of) && (t.host < 0 || len(m.now.tables[j]) < len(m.now.tables[t.host])) {
				t.host = j
			}
		}
		t.walk = newWalk(m.domain, m.now.Cliques[t.host], t.of)
	}
}

// derive makes the tables of the cliques from the terms alone, so that no error of earlier steps is left in them.
func (m *Model) derive() {
	m.logs()
	for i, table := range m.now.tables {
		most := math.Inf(-1)
		for _, v := range table {
			most = max(most, v)
		}
		for j, v := range table {
			table[j] = budget.Exp(v - most)
		}
		for j := range m.now.shared[i] {
			m.now.shared[i][j] = 1
		}
	}
	if !m.now.calibrate(m.total) {
		m.logs()
		m.now.calibrateLogs(m.total)
	}
	m.expect(m.now)
	for _, t := range m.terms {
		t.counts, t.trial = t.trial, t.counts
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
	for _, t := range m.terms { // those inside others come before them
		if t.inside != nil {
			t.walk.add(t.inside.factor, t.factor)
		} else {
			t.walk.add(m.now.tables[t.host], t.factor)
		}
	}
}

// expect sets trial of every term to the counts that tables make.
func (m *Model) expect(c *calibrated) {
	for _, t := range slices.Backward(m.terms) { // those inside others come after them
		clear(t.trial)
		if t.inside != nil {
			t.walk.project(t.inside.trial, t.trial)
		} else {
			t.walk.project(c.tables[t.host], t.trial)
		}
	}
}
