package graphical

import (
	"math/bits"
	"slices"
)

// This file holds junction trees, and the elimination of a graph of attributes that leads to them.

// Tree is a junction tree: the attributes that two of its cliques share are in all cliques between them. Every
// attribute of the domain is in a clique. The first clique is the root, and parents come before children. The tree of a
// model with given attributes is strong (Jensen, Jensen & Dittmer 1994): what a clique shares with its parent is given,
// or the clique has no other given attribute.
type Tree struct {
	Cliques []Clique
	Parent  []int    // of each clique; −1 of the root
	Shared  []Clique // attributes of each clique that its parent has too; may be none
}

// smallestHost returns the clique of the tree with the fewest cells that has all attributes of c, or −1 if none does.
func (t *Tree) smallestHost(d Domain, c Clique) int {
	best := -1
	for i, have := range t.Cliques {
		if have.holds(c) && (best < 0 || d.Cells(have) < d.Cells(t.Cliques[best])) {
			best = i
		}
	}
	return best
}

// Size is the number of cells of all cliques of a tree, and of the largest clique.
type Size struct{ Total, Largest float64 }

// FitsIn reports whether neither number of a size exceeds that of most.
func (s Size) FitsIn(most Size) bool { return s.Total <= most.Total && s.Largest <= most.Largest }

// graph has attributes as vertices and an edge between any two attributes that are in one clique.
type graph struct {
	domain     Domain
	given      []bool // by attribute: it is eliminated after all that are not given
	words      int
	neighbours []uint64 // words of each attribute: the set of its neighbours
}

func newGraph(d Domain, given Clique) *graph {
	words := (len(d) + 63) / 64
	g := &graph{d, make([]bool, len(d)), words, make([]uint64, words*len(d))}
	for _, a := range given {
		g.given[a] = true
	}
	return g
}

func (g *graph) neighboursOf(a int) []uint64 { return g.neighbours[a*g.words : (a+1)*g.words] }

// addClique joins all attributes of a clique.
func (g *graph) addClique(c Clique) {
	for _, a := range c {
		for _, b := range c {
			if a != b {
				g.neighboursOf(a)[b/64] |= 1 << (b % 64)
			}
		}
	}
}

func (g *graph) withClique(c Clique) *graph {
	out := &graph{g.domain, g.given, g.words, slices.Clone(g.neighbours)}
	out.addClique(c)
	return out
}

// forEachBit calls f with the attributes of a set, ascending.
func forEachBit(set []uint64, f func(a int)) {
	for w, word := range set {
		for ; word != 0; word &= word - 1 {
			f(w*64 + bits.TrailingZeros64(word))
		}
	}
}

// cliqueCells returns the number of cells of the clique of an attribute and its neighbours.
func (g *graph) cliqueCells(a int) float64 {
	cells := float64(g.domain[a])
	for w, word := range g.neighboursOf(a) {
		for ; word != 0; word &= word - 1 {
			cells *= float64(g.domain[w*64+bits.TrailingZeros64(word)])
		}
	}
	return cells
}

// elimination is the order in which attributes were eliminated from a graph, each after its remaining neighbours had
// been joined, with those neighbours.
type elimination struct {
	order      []int
	neighbours [][]uint64 // in the order of elimination
	size       Size       // of the maximal cliques
}

// eliminate takes all attributes out of the graph, which it changes: always the one with the least weight in the graph
// that is left, and the first of equal ones; given ones once no other is left. Given all given attributes and those
// taken out later, an attribute that is not given therefore depends only on its neighbours when it is taken out.
func (g *graph) eliminate(weigh func(g *graph, a int) float64) elimination {
	n := len(g.domain)
	e := elimination{order: make([]int, 0, n), neighbours: make([][]uint64, 0, n)}
	weight, done := make([]float64, n), make([]bool, n)
	for a := range weight {
		weight[a] = weigh(g, a)
	}
	taken := make([]uint64, n*g.words)
	for range n {
		best := -1
		for a, w := range weight {
			if !done[a] && (best < 0 || g.given[best] && !g.given[a] || g.given[best] == g.given[a] &&
				w < weight[best]) {
				best = a
			}
		}
		done[best] = true
		near := taken[len(e.order)*g.words : (len(e.order)+1)*g.words]
		copy(near, g.neighboursOf(best))
		if !e.isPart(best, near) {
			cells := g.cliqueCells(best)
			e.size.Total += cells
			e.size.Largest = max(e.size.Largest, cells)
		}
		e.order, e.neighbours = append(e.order, best), append(e.neighbours, near)
		forEachBit(near, func(a int) {
			of := g.neighboursOf(a)
			for w := range of {
				of[w] |= near[w]
			}
			of[a/64] &^= 1 << (a % 64)
			of[best/64] &^= 1 << (best % 64)
		})
		forEachBit(near, func(a int) { weight[a] = weigh(g, a) })
	}
	return e
}

// isPart reports whether the clique of an attribute is part of an earlier one.
func (e *elimination) isPart(a int, near []uint64) bool {
	for i := len(e.neighbours) - 1; i >= 0; i-- {
		if e.neighbours[i][a/64]>>(a%64)&1 == 0 {
			continue
		}
		all := true
		for w, word := range near {
			all = all && word&^e.neighbours[i][w] == 0
		}
		if all {
			return true
		}
	}
	return false
}

// junctionTree returns the junction tree of an elimination: the parent of a clique is that of the first of its
// attributes to be eliminated after it (Tarjan & Yannakakis 1984). Cliques that are part of another are left out.
func (e *elimination) junctionTree() *Tree {
	n := len(e.order)
	at, cliques, parent := make([]int, n), make([]Clique, n), make([]int, n)
	for i, a := range e.order {
		at[a] = i
	}
	for i := n - 1; i >= 0; i-- {
		parent[i] = n
		forEachBit(e.neighbours[i], func(a int) {
			cliques[i] = append(cliques[i], a)
			parent[i] = min(parent[i], at[a])
		})
		if parent[i] == n {
			parent[i] = n - 1 // a connected component of its own is attached to the last attribute, with nothing shared
		}
		cliques[i] = cliques[i].union(Clique{e.order[i]})
	}
	parent[n-1] = -1
	// A clique that is part of one of its children is left out: the child replaces it.
	instead := make([]int, n)
	for i := range instead {
		instead[i] = i
	}
	for i := range n - 1 {
		p := parent[i]
		if instead[p] == p && cliques[i].holds(cliques[p]) {
			instead[p] = i
		}
	}
	find := func(i int) int {
		for instead[i] != i {
			i = instead[i]
		}
		return i
	}
	near := make([][]int, n)
	for i := range n - 1 {
		if a, b := find(i), find(parent[i]); a != b {
			near[a], near[b] = append(near[a], b), append(near[b], a)
		}
	}
	return rootedTree(cliques, near, find(n-1))
}

// rootedTree returns the tree of the cliques that can be reached from root.
func rootedTree(cliques []Clique, near [][]int, root int) *Tree {
	t := &Tree{Cliques: []Clique{cliques[root]}, Parent: []int{-1}, Shared: []Clique{nil}}
	from := []int{root}
	for i := 0; i < len(from); i++ {
		for _, next := range near[from[i]] {
			if t.Parent[i] >= 0 && next == from[t.Parent[i]] {
				continue
			}
			from = append(from, next)
			t.Cliques, t.Parent = append(t.Cliques, cliques[next]), append(t.Parent, i)
			t.Shared = append(t.Shared, cliques[next].intersection(cliques[from[i]]))
		}
	}
	return t
}

// restarts is the number of further elimination orders that are tried.
const restarts = 16

// bestElimination returns the best of several eliminations of the graph: the one in a given order or, if that is nil,
// the one that always takes the attribute whose clique has the fewest cells; and others, none larger in total or in the
// largest clique, in which each number of cells is multiplied by a number in [1, 2). An edge that the tree has anyway
// therefore makes none larger.
func (g *graph) bestElimination(order []int) elimination {
	if order == nil {
		order = g.greedyElimination().order
	}
	at := make([]float64, len(order))
	for i, a := range order {
		at[a] = float64(i)
	}
	best := g.withClique(nil).eliminate(func(_ *graph, a int) float64 { return at[a] })
	source := publicSequence(0x9e3779b97f4a7c15)
	for range restarts {
		e := g.withClique(nil).eliminate(func(g *graph,
			a int) float64 {
			return g.cliqueCells(a) * (1 + source.nextUnit())
		})
		if e.size.Total < best.size.Total && e.size.FitsIn(best.size) {
			best = e
		}
	}
	return best
}

// greedyElimination eliminates the attribute whose clique has the fewest cells at each step.
func (g *graph) greedyElimination() elimination {
	return g.withClique(nil).eliminate((*graph).cliqueCells)
}

// publicSequence is a pseudo-random sequence that its start determines (SplitMix64: Steele, Lea & Flood 2014).
type publicSequence uint64

func (c *publicSequence) nextUnit() float64 {
	*c += 0x9e3779b97f4a7c15
	z := uint64(*c)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return float64(float64((z^z>>31)>>11) * 0x1p-53)
}
