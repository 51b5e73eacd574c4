package spec

// This file holds the reading of derived columns: a level of another column, under a name of its own.

import (
	"fmt"
	"strings"
)

// readDerived reads which attribute decides a derived column; its domain comes when all columns of the table are read.
func (r *reader) readDerived(n node) *Column {
	column, level, _ := strings.Cut(n.get("derived_from").text(), ".")
	for _, key := range []string{"from", "type", "levels", "unknown", "null"} {
		if beside := n.get(key); beside.present() {
			r.report(beside.key, beside.path, Problem{
				Message:  key + " means nothing beside derived_from",
				Expected: "derived_from alone: the column is not read, and its categories are those of " + clip(n.get("derived_from").text()),
			})
		}
	}
	return &Column{Name: n.key.Value, Type: Text, DerivedFrom: &Attribute{Column: column, Level: level}}
}

// deriveColumns gives the derived columns of a table their domains.
func (r *reader) deriveColumns(t *Table, columns node) {
	for _, n := range r.entries(columns) {
		from := n.get("derived_from")
		c := t.Column(n.key.Value)
		if !r.sound(n) || c.DerivedFrom == nil {
			continue
		}
		origin := t.Column(c.DerivedFrom.Column)
		if origin != nil && origin.DerivedFrom != nil {
			p := Problem{Message: fmt.Sprintf("%s is derived itself", origin.Name), Expected: "the column that is read, at one of its levels"}
			if origin == c {
				p.Message = fmt.Sprintf("%s is derived from itself", c.Name)
			} else if at := *origin.DerivedFrom; c.DerivedFrom.Level == "" {
				p.Fix = "derived_from: " + at.String()
			}
			r.problem(from, p)
			continue
		}
		if !r.checkAttribute(t, from, *c.DerivedFrom, strings.Contains(from.text(), ".")) || origin.Domain == nil {
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
func (r *reader) checkDecided(t *Table, m *Marginal, n node) {
	first := map[string]Attribute{}
	for _, item := range n.get("by").items() {
		column, level, _ := strings.Cut(item.text(), ".")
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
	if len(m.By) < len(n.get("by").items()) {
		return // already reported
	}
	for i, size := range m.Every {
		if size > len(first) {
			r.problem(n.get("every").items()[i], Problem{
				Message:  fmt.Sprintf("no table has %d of these attributes: derived columns do not stand beside what decides them", size),
				Expected: fmt.Sprintf("a size from 0 to %d", len(first)),
			})
		}
	}
}

// decided is the problem of two attributes that come from one column: which to drop, and why.
func (t *Table) decided(first, second Attribute) Problem {
	drop, decides := second, first
	if t.decides(second, first) && (t.origin(first) != first || !t.decides(first, second)) {
		drop, decides = first, second
	}
	p := Problem{Message: fmt.Sprintf("%s and %s come from one column", first, second), Expected: "one of them"}
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
