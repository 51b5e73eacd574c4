package tree

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
)

// This file holds the shape of a hierarchy: the cells of an area, what is asked of each, and which areas make up which.

// MostKinds is the largest number of kinds.
const MostKinds = 64

// mostAttributes bounds the sets of attributes, each of which has matrices of its own for every area.
const mostAttributes = 8

// mostCells is the largest number of cells of an area.
const mostCells = 1 << 24

// Kinds is a set of kinds.
type Kinds uint64

// AllKinds returns the first n kinds.
func AllKinds(n int) Kinds { return Kinds(1<<n - 1) }

// count returns how many kinds there are.
func (k Kinds) count() int { return bits.OnesCount64(uint64(k)) }

// list returns the kinds in their order.
func (k Kinds) list() []int {
	out := make([]int, 0, k.count())
	for ; k != 0; k &= k - 1 {
		out = append(out, bits.TrailingZeros64(uint64(k)))
	}
	return out
}

// Axes is a set of attributes, by their index in [Cells].
type Axes uint

// Cells are the cells of an area: kinds, times the categories of the attributes. A cell is numbered with the kind first
// and the last attribute's category last.
type Cells struct {
	Kinds      int   // from 1 to MostKinds
	Attributes []int // the number of categories of each, at least 2
}

// perKind returns how many cells there are of one kind.
func (c Cells) perKind() int {
	n := 1
	for _, size := range c.Attributes {
		n *= size
	}
	return n
}

// Query is a table that is asked of an area: its cells summed up over kinds of a group and over some attributes.
type Query struct {
	Groups   []int   // the group of each kind, from 0
	Axes     Axes    // the attributes by which the table is; it sums up over the others
	Variance float64 // of the noise of each answer; positive
}

// groups returns how many groups of kinds there are.
func (q Query) groups() int {
	most := 0
	for _, g := range q.Groups {
		most = max(most, g+1)
	}
	return most
}

// Area is an area of the hierarchy.
type Area struct {
	Parent int // its index; −1 for the whole, which is the first area alone
	Class  int // of the queries that are asked of it
	// Possible are the kinds that the area may have. They are read of areas without children; any other may have those
	// of its children.
	Possible Kinds
}

// Tree is a hierarchy of areas with what is asked of them. It may be used concurrently.
type Tree struct {
	cells    Cells
	classes  [][]Query
	areas    []Area
	first    []int   // of the children of each area, in children
	children []int32 // of all areas
	// components are the sets of attributes, by their bits; each has precisions of its own.
	components int
	basis      basis
}

var errNoAreas = errors.New("there are no areas")

// New returns a hierarchy. Parents stand before their children. It returns an error if a query does not fit the cells,
// or areas make up no tree.
func New(cells Cells, classes [][]Query, areas []Area) (*Tree, error) {
	if err := checkCells(cells); err != nil {
		return nil, err
	}
	for i, queries := range classes {
		for j, q := range queries {
			if err := checkQuery(cells, q); err != nil {
				return nil, fmt.Errorf("query %d of class %d: %w", j, i, err)
			}
		}
	}
	t := &Tree{cells: cells, classes: classes, areas: append([]Area(nil), areas...),
		components: 1 << len(cells.Attributes), basis: newBasis(cells.Attributes)}
	if len(areas) == 0 {
		return nil, errNoAreas
	}
	t.first = make([]int, len(areas)+1)
	for i, a := range areas {
		switch {
		case (a.Parent < 0) != (i == 0) || a.Parent >= i:
			return nil, fmt.Errorf("area %d: expected a parent that stands before it, and none for the first", i)
		case a.Class < 0 || a.Class >= len(classes):
			return nil, fmt.Errorf("area %d: there is no class %d", i, a.Class)
		case a.Possible&^AllKinds(cells.Kinds) != 0:
			return nil, fmt.Errorf("area %d: there are only %d kinds", i, cells.Kinds)
		case a.Parent >= 0:
			t.first[a.Parent+1]++
		}
	}
	for i := range areas {
		t.first[i+1] += t.first[i]
	}
	t.children = make([]int32, len(areas)-1)
	filled := append([]int(nil), t.first...)
	for i, a := range areas[1:] {
		t.children[filled[a.Parent]] = int32(i + 1)
		filled[a.Parent]++
	}
	for i := len(areas) - 1; i >= 0; i-- {
		if all := t.childrenOf(i); len(all) > 0 {
			t.areas[i].Possible = 0
			for _, c := range all {
				t.areas[i].Possible |= t.areas[c].Possible
			}
		}
	}
	return t, nil
}

// checkCells returns an error unless cells have sizes that can be computed with.
func checkCells(c Cells) error {
	if c.Kinds < 1 || c.Kinds > MostKinds {
		return fmt.Errorf("%d kinds: expected 1 to %d", c.Kinds, MostKinds)
	}
	if len(c.Attributes) > mostAttributes {
		return fmt.Errorf("%d attributes: expected at most %d", len(c.Attributes), mostAttributes)
	}
	n := c.Kinds
	for _, size := range c.Attributes {
		if size < 2 || size > mostCells/n {
			return fmt.Errorf("an attribute of %d categories: expected at least 2, and at most %d cells", size, mostCells)
		}
		n *= size
	}
	return nil
}

// checkQuery returns an error unless a query fits the cells.
func checkQuery(c Cells, q Query) error {
	if len(q.Groups) != c.Kinds {
		return fmt.Errorf("groups of %d kinds: expected %d", len(q.Groups), c.Kinds)
	}
	for _, g := range q.Groups {
		if g < 0 || g >= c.Kinds {
			return fmt.Errorf("group %d: expected 0 to %d", g, c.Kinds-1)
		}
	}
	if q.Axes>>len(c.Attributes) != 0 {
		return fmt.Errorf("there are only %d attributes", len(c.Attributes))
	}
	if !(q.Variance > 0) || math.IsInf(q.Variance, 1) {
		return errors.New("expected a positive variance")
	}
	return nil
}

// QueryOf returns a query of an area's class, and how many answers it has.
func (t *Tree) QueryOf(area, query int) (q Query, answers int) {
	q = t.classes[t.areas[area].Class][query]
	return q, q.groups() * len(t.basis.places(q.Axes))
}

// childrenOf returns the indices of an area's children.
func (t *Tree) childrenOf(area int) []int32 { return t.children[t.first[area]:t.first[area+1]] }

// ownPrecision returns the precision, over the kinds of an area, of the area's own answers about one component: the sum
// over its queries of Gᵀ·G, where G adds up kinds of a group, divided by the variance and times the number of
// categories that are summed up.
func (t *Tree) ownPrecision(class int, kinds []int, component int) symmetric {
	p := newSymmetric(len(kinds))
	for _, q := range t.classes[class] {
		weight, ok := t.weightOf(q, component)
		if !ok {
			continue
		}
		for i, a := range kinds {
			for j, b := range kinds {
				if q.Groups[a] == q.Groups[b] {
					p.at[i*p.n+j] += weight
				}
			}
		}
	}
	return p
}

// weightOf returns the precision that a query has about one component of the cells of a group, and whether it has any.
func (t *Tree) weightOf(q Query, component int) (float64, bool) {
	if Axes(component)&^q.Axes != 0 {
		return 0, false
	}
	summed := 1
	for i, size := range t.cells.Attributes {
		if q.Axes>>i&1 == 0 {
			summed *= size
		}
	}
	return float64(summed) / q.Variance, true
}
