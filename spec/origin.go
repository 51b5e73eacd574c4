package spec

// This file holds the origin of an attribute: what decides the category of another.

import (
	"fmt"

	"github.com/dprelease/dprelease/spec/domain"

	"github.com/dprelease/dprelease/spec/document"
)

// origin is the attribute that decides the category of another: its own, or for a derived column the one that it is
// derived from.
func (t *Table) origin(a Attribute) Attribute {
	if c := t.Column(a.Column); c != nil && c.DerivedFrom != nil {
		return *c.DerivedFrom
	}
	return a
}

// decided is the problem of two attributes that come from one column: which to drop, and why.
func (t *Table) decided(first, second Attribute) document.Problem {
	drop, decides := second, first
	if t.decides(second, first) && (t.origin(first) != first || !t.decides(first, second)) {
		drop, decides = first, second
	}
	p := document.Problem{Message: fmt.Sprintf("%s and %s come from one column", first, second), Expected: "one of them"}
	if t.decides(decides, drop) {
		p.Expected = fmt.Sprintf("drop %s: it is decided by %s", drop, decides)
	}
	return p
}

// decides tells that the category of one attribute decides that of another of the same origin.
func (t *Table) decides(a, b Attribute) bool {
	a, b = t.origin(a), t.origin(b)
	fine, coarse := levelOf(t, a), levelOf(t, b)
	if fine == nil || coarse == nil {
		return false
	}
	of := make([]int, fine.Size()) // plus one, 0 where not known yet
	for base := range t.Column(a.Column).Domain.Size() {
		f, c := fine.Category(base), coarse.Category(base)+1
		if of[f] != 0 && of[f] != c {
			return false
		}
		of[f] = c
	}
	return true
}

// levelOf is the level of an attribute, nil where it is not known.
func levelOf(t *Table, a Attribute) *domain.Level {
	c := t.Column(a.Column)
	if c == nil || c.Domain == nil {
		return nil
	}
	level, _ := c.Domain.Level(a.Level)
	return level
}
