package spec

// This file holds the reading of derived columns: a level of another column, under a name of its own.

import (
	"fmt"
	"github.com/dprelease/dprelease/spec/document"
	"strings"
)

// readDerived reads which attribute decides a derived column; its domain comes when all columns of the table are read.
func (r *reader) readDerived(n document.Node) *Column {
	column, level, _ := strings.Cut(n.Get("derived_from").Text(), ".")
	for _, key := range []string{"from", "type", "levels", "unknown", "null"} {
		if beside := n.Get(key); beside.Present() {
			r.Report(beside.Key, beside.Path, document.Problem{
				Message:  key + " means nothing beside derived_from",
				Expected: "derived_from alone: the column is not read, and its categories are those of " + document.Clip(n.Get("derived_from").Text()),
			})
		}
	}
	return &Column{Name: n.Key.Value, Type: Text, DerivedFrom: &Attribute{Column: column, Level: level}}
}

// deriveColumns gives the derived columns of a table their domains.
func (r *reader) deriveColumns(t *Table, columns document.Node) {
	for _, n := range r.Entries(columns) {
		from := n.Get("derived_from")
		c := t.Column(n.Key.Value)
		if !r.Sound(n) || c.DerivedFrom == nil {
			continue
		}
		origin := t.Column(c.DerivedFrom.Column)
		if origin != nil && origin.DerivedFrom != nil {
			p := document.Problem{Message: fmt.Sprintf("%s is derived itself", origin.Name), Expected: "the column that is read, at one of its levels"}
			if origin == c {
				p.Message = fmt.Sprintf("%s is derived from itself", c.Name)
			} else if at := *origin.DerivedFrom; c.DerivedFrom.Level == "" {
				p.Fix = "derived_from: " + at.String()
			}
			r.problem(from, p)
			continue
		}
		if !r.checkAttribute(t, from, *c.DerivedFrom, strings.Contains(from.Text(), ".")) || origin.Domain == nil {
			continue
		}
		level, _ := origin.Domain.Level(c.DerivedFrom.Level)
		if r.spend(n, level.Size(), 0) {
			c.Domain = newTexts(Text, level.Categories)
		}
	}
}

// origin is the attribute that decides the category of another: its own, or for a derived column the one that it is
// derived from.
func (t *Table) origin(a Attribute) Attribute {
	if c := t.Column(a.Column); c != nil && c.DerivedFrom != nil {
		return *c.DerivedFrom
	}
	return a
}

// checkDecided reports attributes of a marginal of which one is derived from the column of another.
func (r *reader) checkDecided(t *Table, m *Marginal, n document.Node) {
	first := map[string]Attribute{}
	for _, item := range n.Get("by").Items() {
		column, level, _ := strings.Cut(item.Text(), ".")
		a := Attribute{column, level}
		origin := t.origin(a)
		before, twice := first[origin.Column]
		if !twice {
			first[origin.Column] = a
			continue
		}
		if before.Column != a.Column && m.Every == nil {
			r.problem(item, t.decided(before, a))
		}
	}
	if len(m.By) < len(n.Get("by").Items()) {
		return // already reported
	}
	for i, size := range m.Every {
		if size > len(first) {
			r.problem(n.Get("every").Items()[i], document.Problem{
				Message:  fmt.Sprintf("no table has %d of these attributes: derived columns do not stand beside what decides them", size),
				Expected: fmt.Sprintf("a size from 0 to %d", len(first)),
			})
		}
	}
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
	code := func(l *Level, base int) int {
		if l.Of == nil {
			return base
		}
		return int(l.Of[base])
	}
	of := make([]int, fine.Size()) // plus one, 0 where not known yet
	for base := range t.Column(a.Column).Domain.Size() {
		f, c := code(fine, base), code(coarse, base)+1
		if of[f] != 0 && of[f] != c {
			return false
		}
		of[f] = c
	}
	return true
}
