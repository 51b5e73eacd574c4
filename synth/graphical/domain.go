package graphical

import "slices"

// This file holds sets of attributes.

// Domain is the number of categories of each attribute, each at least 1.
type Domain []int

// Clique is a set of attributes: indexes into a domain, ascending.
type Clique []int

// Cells returns the number of cells in the table of a clique. It is a float64, so that it can exceed the size of any
// table.
func (d Domain) Cells(c Clique) float64 {
	cells := 1.0
	for _, a := range c {
		cells *= float64(d[a])
	}
	return cells
}

// holds reports whether a clique has all attributes of another.
func (c Clique) holds(other Clique) bool {
	return !slices.ContainsFunc(other, func(a int) bool { return !c.has(a) })
}

func (c Clique) has(attribute int) bool {
	_, found := slices.BinarySearch(c, attribute)
	return found
}

// union returns the attributes that are in either clique.
func (c Clique) union(other Clique) Clique {
	out := slices.Concat(c, other)
	slices.Sort(out)
	return slices.Compact(out)
}

// intersection returns the attributes that are in both cliques.
func (c Clique) intersection(other Clique) Clique {
	return slices.DeleteFunc(slices.Clone(c), func(a int) bool { return !other.has(a) })
}

// without returns the attributes of c that are not in other.
func (c Clique) without(other Clique) Clique {
	return slices.DeleteFunc(slices.Clone(c), other.has)
}

// key encodes a clique as a map key.
func (c Clique) key() string {
	b := make([]byte, 0, 2*len(c))
	for _, a := range c {
		b = append(b, byte(a>>8), byte(a))
	}
	return string(b)
}

// GreedyTreeSize returns the size of a tree for all the cliques together, as greedy elimination finds it: the least
// size may be smaller.
func (d Domain) GreedyTreeSize(cliques []Clique) Size {
	g := newGraph(d, nil)
	for _, c := range cliques {
		g.addClique(c)
	}
	return g.greedyElimination().size
}
