package spec

// This file holds the reading of what is impossible: combinations of categories that no row has.

import (
	"fmt"
	"slices"
	"strings"
)

// What happens to a row that is impossible.
const (
	rowsError = "error"
	rowsDrop  = "drop"
)

func (r *reader) readImpossible(root node) {
	for _, n := range root.get("impossible").items() {
		if !r.sound(n) {
			continue
		}
		t := r.readTable(n, "the table whose rows they are")
		if t == nil {
			continue
		}
		i := Impossible{Table: t.Name, Line: n.value.Line, Drop: n.get("rows").present() && n.get("rows").text() == rowsDrop}
		i.Where = r.readWhere(t, n.get("where"))
		r.release.Impossible = append(r.release.Impossible, i)
		if root.get("synthetic").get(t.Name).present() {
			r.notBuilt(n.position(), n.path, "impossible on a table with microdata")
			r.leaveOut(n)
		}
	}
}

// readWhere reads the conditions that an impossible row meets, all of them.
func (r *reader) readWhere(t *Table, n node) []Condition {
	all, everything := r.conditions(t, n)
	if everything {
		r.report(n.heading(), n.path, Problem{
			Message:  "every row is so: these are all categories",
			Expected: "some of the categories of one of the attributes at least",
		})
	}
	return all
}

// conditions reads attributes with their categories, and tells whether every row meets them. A condition of a derived column
// is of what it is derived from.
func (r *reader) conditions(t *Table, n node) (all []Condition, everything bool) {
	seen := map[string]string{}
	known, excluded := true, true
	for _, pair := range r.entries(n) {
		column, level, dotted := strings.Cut(pair.key.Value, ".")
		a := Attribute{Column: column, Level: level}
		at := node{value: pair.key, path: pair.path}
		if !r.checkAttribute(t, at, a, dotted) {
			known = false
			continue
		}
		origin := t.origin(a)
		if before := seen[origin.Column]; before != "" {
			r.problem(at, Problem{Message: fmt.Sprintf("%s and %s are of one column", before, a), Expected: "each column once, at one level"})
			known = false
			continue
		}
		seen[origin.Column] = a.String()
		l := levelOf(t, a)
		if l == nil {
			known = false // not built, or already reported
			continue
		}
		c := Condition{Attribute: origin, Codes: r.readCodes(a, l, pair)}
		excluded = excluded && len(c.Codes) == l.Size()
		all = append(all, c)
	}
	return all, known && excluded
}

// readCodes finds the categories of a condition among those of its level.
func (r *reader) readCodes(a Attribute, l *Level, n node) []int {
	items := n.items()
	if items == nil {
		items = []node{n}
	}
	code := make(map[string]int, len(items)) // of each category that is named; -1 where there is none
	for _, item := range items {
		code[item.text()] = -1
	}
	for i, c := range l.Categories {
		if _, named := code[c.Code]; named {
			code[c.Code] = i
		}
	}
	var codes []int
	seen := map[int]bool{}
	for _, item := range items {
		at := code[item.text()]
		switch {
		case at < 0:
			p := Problem{Message: fmt.Sprintf("%q is no category of %s", clip(item.text()), a), Expected: someOf(l.Categories)}
			r.problem(item, r.nearestFix(item, p, nearestCategory(&r.suggestions, item.text(), l.Categories)))
		case seen[at]:
			r.problem(item, Problem{Message: fmt.Sprintf("duplicate category %q", clip(item.text())), Expected: "each category once"})
		default:
			codes, seen[at] = append(codes, at), true
		}
	}
	slices.Sort(codes)
	return codes
}
