// Package attributes says how the attributes of a table relate to each other.
//
// It owns the attribute by which rows are counted if a table shows a derived column, the category of a coarser level
// that contains each category, and which of two attributes is derived from the other.
//
// It reads the columns and levels of a spec. It never sees a plan, a row or a count.
package attributes

import (
	"slices"

	"github.com/dprelease/dprelease/spec/domain"

	"github.com/dprelease/dprelease/spec"
)

// Counted returns the attribute by which rows are counted if a table shows an attribute: the attribute itself or, for
// a derived column, the level of the column that decides it. Both have the same categories in the same order. A
// derived column is never read, so it is not measured together with its origin either.
func Counted(t *spec.Table, a spec.Attribute) spec.Attribute {
	for {
		c := t.Column(a.Column)
		if c == nil || c.DerivedFrom == nil || a.Level != "" {
			return a
		}
		a = *c.DerivedFrom
	}
}

// CountedBy returns attributes as they are counted.
func CountedBy(t *spec.Table, by []spec.Attribute) []spec.Attribute {
	out := make([]spec.Attribute, len(by))
	for i, a := range by {
		out[i] = Counted(t, a)
	}
	return out
}

// SameColumnPair finds two attributes that are counted by one column. It returns a derived column before its origin.
func SameColumnPair(t *spec.Table, by []spec.Attribute) (derived, origin spec.Attribute, found bool) {
	for i, a := range by {
		for _, b := range by[:i] {
			if Counted(t, a).Column == Counted(t, b).Column {
				if Counted(t, b) != b {
					a, b = b, a
				}
				return a, b, true
			}
		}
	}
	return spec.Attribute{}, spec.Attribute{}, false
}

// CoarserCategories returns, for each category of an attribute, the category of a coarser attribute of the same column
// that contains it. It reports false if the attribute does not decide the coarser one.
func CoarserCategories(t *spec.Table, fine, coarse spec.Attribute) ([]int, bool) {
	if fine.Column != coarse.Column {
		return nil, false
	}
	of := t.Column(fine.Column).Domain
	from, ok := of.Level(fine.Level)
	to, found := of.Level(coarse.Level)
	if !ok || !found {
		return nil, false
	}
	return Nesting(of.Size(), from, to)
}

// Deciding returns which of some attributes decides another, the first if there are several, and the other's category
// for each of its categories.
func Deciding(t *spec.Table, by []spec.Attribute, of spec.Attribute) (index int, categories []int, ok bool) {
	for i, a := range by {
		if categories, ok := CoarserCategories(t, a, of); ok {
			return i, categories, true
		}
	}
	return 0, nil, false
}

// Nesting returns, for each category of a level, the category of a coarser level that contains it. It reports false
// if a category overlaps several, or none.
func Nesting(base int, fine, coarse *domain.Level) ([]int, bool) {
	parent := make([]int, fine.Size())
	for i := range parent {
		parent[i] = -1
	}
	for i := range base {
		f, p := fine.Category(i), coarse.Category(i)
		if parent[f] >= 0 && parent[f] != p {
			return nil, false
		}
		parent[f] = p
	}
	return parent, !slices.Contains(parent, -1)
}
