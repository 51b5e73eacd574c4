package graphical

import "slices"

// This file holds sets of attributes.

// Domain is the number of categories of each attribute, each at least 1.
type Domain []int

// Clique is a set of attributes: places in a domain, ascending.
type Clique []int

// Cells is how many cells the table of a clique has, as a float64, which holds what no table could.
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

// union is the attributes of either.
func (c Clique) union(other Clique) Clique {
	out := slices.Concat(c, other)
	slices.Sort(out)
	return slices.Compact(out)
}

// common is the attributes of both.
func (c Clique) common(other Clique) Clique {
	return slices.DeleteFunc(slices.Clone(c), func(a int) bool { return !other.has(a) })
}

// without is the attributes of the first alone.
func (c Clique) without(other Clique) Clique {
	return slices.DeleteFunc(slices.Clone(c), other.has)
}

// key tells cliques apart.
func (c Clique) key() string {
	b := make([]byte, 0, 2*len(c))
	for _, a := range c {
		b = append(b, byte(a>>8), byte(a))
	}
	return string(b)
}

// Least is the size of a tree for cliques together: of that which the greedy elimination finds, or a smaller one.
func (d Domain) Least(cliques []Clique) Size {
	g := newGraph(d, nil)
	for _, c := range cliques {
		g.add(c)
	}
	return g.greedy().size
}
