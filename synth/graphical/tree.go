package graphical

import (
	"math/bits"
	"slices"
)

// This file holds junction trees: how the sets of attributes of a model hang together.

// Tree is a junction tree: cliques such that the attributes that two of them share are in all cliques between them.
// Every attribute of the domain is in one. The first is the root, and parents come before children. Of a model with
// given attributes it is strong (Jensen, Jensen & Dittmer 1994): what a clique shares with its parent is given, or the
// clique has no given attribute beside that.
type Tree struct {
	Cliques []Clique
	Parent  []int    // of each clique; −1 of the root
	Shared  []Clique // attributes of each clique and its parent, which may be none
}

// host is the clique of the tree with the fewest cells that holds one; −1: none does.
func (t *Tree) host(d Domain, c Clique) int {
	best := -1
	for i, have := range t.Cliques {
		if have.holds(c) && (best < 0 || d.Cells(have) < d.Cells(t.Cliques[best])) {
			best = i
		}
	}
	return best
}

// Size is the cells of all cliques of a tree, and of the largest.
type Size struct{ Total, Largest float64 }

// Within reports whether a size is within another.
func (s Size) Within(most Size) bool { return s.Total <= most.Total && s.Largest <= most.Largest }

// graph is attributes with edges between those that are in one clique.
type graph struct {
	domain Domain
	given  []bool // of each attribute: it is taken out after all that are not
	words  int
	near   []uint64 // words of each attribute: those that it has an edge to
}

func newGraph(d Domain, given Clique) *graph {
	words := (len(d) + 63) / 64
	g := &graph{d, make([]bool, len(d)), words, make([]uint64, words*len(d))}
	for _, a := range given {
		g.given[a] = true
	}
	return g
}

func (g *graph) of(a int) []uint64 { return g.near[a*g.words : (a+1)*g.words] }

// add joins all attributes of a clique.
func (g *graph) add(c Clique) {
	for _, a := range c {
		for _, b := range c {
			if a != b {
				g.of(a)[b/64] |= 1 << (b % 64)
			}
		}
	}
}

func (g *graph) with(c Clique) *graph {
	out := &graph{g.domain, g.given, g.words, slices.Clone(g.near)}
	out.add(c)
	return out
}

// each calls f with the attributes of a set, ascending.
func each(set []uint64, f func(a int)) {
	for w, word := range set {
		for ; word != 0; word &= word - 1 {
			f(w*64 + bits.TrailingZeros64(word))
		}
	}
}

// cells is the cells of the clique of an attribute and those near it.
func (g *graph) cells(a int) float64 {
	cells := float64(g.domain[a])
	for w, word := range g.of(a) {
		for ; word != 0; word &= word - 1 {
			cells *= float64(g.domain[w*64+bits.TrailingZeros64(word)])
		}
	}
	return cells
}

// elimination is the order in which attributes were taken out of a graph, each after those that were near it then had
// been joined; and of each attribute what was near.
type elimination struct {
	order []int
	left  [][]uint64 // by place in the order
	size  Size       // of the maximal cliques
}

// eliminate takes all attributes out of the graph, which it changes, always the one that weighs least in what is left
// of it, and of equal ones the first; given ones when no other is left. So an attribute that is not given depends,
// given all that are and those taken out later, on what is near it when it is taken out alone.
func (g *graph) eliminate(weigh func(g *graph, a int) float64) elimination {
	n := len(g.domain)
	e := elimination{order: make([]int, 0, n), left: make([][]uint64, 0, n)}
	weight, done := make([]float64, n), make([]bool, n)
	for a := range weight {
		weight[a] = weigh(g, a)
	}
	taken := make([]uint64, n*g.words)
	for range n {
		best := -1
		for a, w := range weight {
			if !done[a] && (best < 0 || g.given[best] && !g.given[a] || g.given[best] == g.given[a] && w < weight[best]) {
				best = a
			}
		}
		done[best] = true
		near := taken[len(e.order)*g.words : (len(e.order)+1)*g.words]
		copy(near, g.of(best))
		if !e.within(best, near) {
			cells := g.cells(best)
			e.size.Total += cells
			e.size.Largest = max(e.size.Largest, cells)
		}
		e.order, e.left = append(e.order, best), append(e.left, near)
		each(near, func(a int) {
			of := g.of(a)
			for w := range of {
				of[w] |= near[w]
			}
			of[a/64] &^= 1 << (a % 64)
			of[best/64] &^= 1 << (best % 64)
		})
		each(near, func(a int) { weight[a] = weigh(g, a) })
	}
	return e
}

// within reports whether the clique of an attribute is part of one before it.
func (e *elimination) within(a int, near []uint64) bool {
	for i := len(e.left) - 1; i >= 0; i-- {
		if e.left[i][a/64]>>(a%64)&1 == 0 {
			continue
		}
		all := true
		for w, word := range near {
			all = all && word&^e.left[i][w] == 0
		}
		if all {
			return true
		}
	}
	return false
}

// tree is the junction tree of an elimination: each clique hangs at that of the next attribute that it was eliminated
// beside (Tarjan & Yannakakis 1984), and those that are part of another are left out.
func (e *elimination) tree() *Tree {
	n := len(e.order)
	at, cliques, parent := make([]int, n), make([]Clique, n), make([]int, n)
	for i, a := range e.order {
		at[a] = i
	}
	for i := n - 1; i >= 0; i-- {
		parent[i] = n
		each(e.left[i], func(a int) {
			cliques[i] = append(cliques[i], a)
			parent[i] = min(parent[i], at[a])
		})
		if parent[i] == n {
			parent[i] = n - 1 // a part of its own hangs at the last attribute by nothing
		}
		cliques[i] = cliques[i].union(Clique{e.order[i]})
	}
	parent[n-1] = -1
	// A clique that one of its children holds is left out: that child takes its place.
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
	return rooted(cliques, near, find(n-1))
}

// rooted is the tree of those cliques that can be reached from one of them.
func rooted(cliques []Clique, near [][]int, root int) *Tree {
	t := &Tree{Cliques: []Clique{cliques[root]}, Parent: []int{-1}, Shared: []Clique{nil}}
	from := []int{root}
	for i := 0; i < len(from); i++ {
		for _, next := range near[from[i]] {
			if t.Parent[i] >= 0 && next == from[t.Parent[i]] {
				continue
			}
			from = append(from, next)
			t.Cliques, t.Parent = append(t.Cliques, cliques[next]), append(t.Parent, i)
			t.Shared = append(t.Shared, cliques[next].common(cliques[from[i]]))
		}
	}
	return t
}

// restarts is how many orders of elimination are tried beside one.
const restarts = 16

// smallest is the best of several eliminations of the graph: that in an order given, or where that is nil the one that
// always takes the attribute whose clique has the fewest cells; and others that are no larger in any way, in which each
// number of cells is multiplied by a number in [1, 2). So an edge that a tree has anyway makes none larger.
func (g *graph) smallest(order []int) elimination {
	if order == nil {
		order = g.greedy().order
	}
	at := make([]float64, len(order))
	for i, a := range order {
		at[a] = float64(i)
	}
	best, source := g.with(nil).eliminate(func(_ *graph, a int) float64 { return at[a] }), chance(0x9e3779b97f4a7c15)
	for range restarts {
		e := g.with(nil).eliminate(func(g *graph, a int) float64 { return g.cells(a) * (1 + source.unit()) })
		if e.size.Total < best.size.Total && e.size.Within(best.size) {
			best = e
		}
	}
	return best
}

// greedy always takes the attribute whose clique has the fewest cells.
func (g *graph) greedy() elimination { return g.with(nil).eliminate((*graph).cells) }

// chance is a public sequence of numbers, the same wherever it begins the same (SplitMix64: Steele, Lea & Flood 2014).
type chance uint64

func (c *chance) unit() float64 {
	*c += 0x9e3779b97f4a7c15
	z := uint64(*c)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return float64(float64((z^z>>31)>>11) * 0x1p-53)
}
