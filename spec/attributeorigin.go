package spec

// This file finds the origin of an attribute: the attribute that decides its category.

import (
	"fmt"

	"github.com/dprelease/dprelease/spec/domain"

	"github.com/dprelease/dprelease/spec/document"
)

// originOf returns the attribute that decides the category of another: the attribute that a derived column is derived
// from, and the attribute itself for any other column.
func (t *Table) originOf(a Attribute) Attribute {
	if c := t.Column(a.Column); c != nil && c.DerivedFrom != nil {
		return *c.DerivedFrom
	}
	return a
}

// sameOriginProblem returns the problem of two attributes that come from the same column: which one to drop, and why.
func (t *Table) sameOriginProblem(first, second Attribute) document.Problem {
	drop, decides := second, first
	if t.canDerive(second, first) && (t.originOf(first) != first || !t.canDerive(first, second)) {
		drop, decides = first, second
	}
	p := document.Problem{Message: fmt.Sprintf("%s and %s come from one column", first, second),
		Expected: "one of them"}
	if t.canDerive(decides, drop) {
		p.Expected = fmt.Sprintf("drop %s: it is decided by %s", drop, decides)
	}
	return p
}

// canDerive reports whether the category of a decides the category of b. Both have the same origin.
func (t *Table) canDerive(a, b Attribute) bool {
	a, b = t.originOf(a), t.originOf(b)
	fine, coarse := levelOf(t, a), levelOf(t, b)
	if fine == nil || coarse == nil {
		return false
	}
	coarseOf := make([]int, fine.Size()) // plus one, 0 if not known yet
	for base := range t.Column(a.Column).Domain.Size() {
		f, c := fine.Category(base), coarse.Category(base)+1
		if coarseOf[f] != 0 && coarseOf[f] != c {
			return false
		}
		coarseOf[f] = c
	}
	return true
}

// levelOf returns the level of an attribute, nil if it is not known.
func levelOf(t *Table, a Attribute) *domain.Level {
	c := t.Column(a.Column)
	if c == nil || c.Domain == nil {
		return nil
	}
	level, _ := c.Domain.Level(a.Level)
	return level
}

// levelsOf returns the levels of a column of the table, in the order of the spec, and the column itself unless a level is
// another name for it.
func (t *Table) levelsOf(column string) []Attribute {
	var levels []Attribute
	finest := Attribute{Column: column}
	named := levelOf(t, finest) == nil
	for _, name := range t.Column(column).Domain.LevelNames() {
		a := Attribute{column, name}
		if levelOf(t, a).CategoryOf == nil {
			a, named = finest, true
		}
		levels = append(levels, a)
	}
	if !named {
		levels = append(levels, finest)
	}
	return levels
}
