package workload

import (
	"slices"
	"strings"

	"github.com/dprelease/dprelease/plan/attributes"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/domain"
)

// This file holds the chain: nested levels of a column.

// Chain is a column of a confidential table with some of its levels, each nested in the one before.
type Chain struct {
	Column  string
	Levels  []*domain.Level // coarsest first
	parents [][]int         // of each category its parent in the level before; at the first level 0, the total
}

// ChainsOf divides levels of a column into chains by a greedy search that starts with the coarsest.
func ChainsOf(of *spec.Column, levels []*domain.Level) []Chain {
	var all []Chain
	for left := coarsestFirst(levels); len(left) > 0; {
		var c Chain
		c, left = newChain(of, left)
		all = append(all, c)
	}
	return all
}

// newChain starts a chain of a column with the first of some levels and, greedily, adds each later level that is
// nested in the last one added. left are the levels that are not, in order.
func newChain(of *spec.Column, levels []*domain.Level) (c Chain, left []*domain.Level) {
	c = Chain{Column: of.Name, Levels: levels[:1:1], parents: [][]int{make([]int, levels[0].Size())}}
	for _, level := range levels[1:] {
		parent, nested := attributes.Nesting(of.Domain.Size(), level, c.Levels[len(c.Levels)-1])
		if !nested {
			left = append(left, level)
			continue
		}
		c.Levels, c.parents = append(c.Levels, level), append(c.parents, parent)
	}
	return c, left
}

// Attribute returns the column at a level, counted from 1.
func (c Chain) Attribute(level int) spec.Attribute {
	return spec.Attribute{Column: c.Column, Level: c.Levels[level-1].Name}
}

// String names the levels.
func (c Chain) String() string {
	names := make([]string, len(c.Levels))
	for i := range names {
		names[i] = c.Attribute(i + 1).String()
	}
	return strings.Join(names, " with ")
}

// Size returns the number of categories of a level, counted from 1; level 0 is the total, of one.
func (c Chain) Size(level int) int {
	if level == 0 {
		return 1
	}
	return c.Levels[level-1].Size()
}

// Within returns, for each category of a level, the category of a coarser one that contains it.
func (c Chain) Within(fine, coarse int) []int {
	of := make([]int, c.Size(fine))
	for i := range of {
		if coarse == 0 {
			continue
		}
		of[i] = i
		for level := fine; level > coarse; level-- {
			of[i] = c.parents[level-1][of[i]]
		}
	}
	return of
}

// coarsestFirst sorts levels by their numbers of categories.
func coarsestFirst(levels []*domain.Level) []*domain.Level {
	return slices.SortedStableFunc(slices.Values(levels), func(a, b *domain.Level) int { return a.Size() - b.Size() })
}
