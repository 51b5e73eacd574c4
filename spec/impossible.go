package spec

// This file reads impossible combinations of categories, which no row has.

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/spec/domain"

	"github.com/dprelease/dprelease/spec/document"
)

func (r *reader) readImpossible(root document.Node) {
	for _, n := range root.Get("impossible").Items() {
		if !r.IsSound(n) {
			continue
		}
		t := r.readTable(n, "the table whose rows they are")
		if t == nil {
			continue
		}
		i := Impossible{Table: t.Name, Drop: n.Get("rows").Is(rowsDrop)}
		i.Where = r.readWhere(t, n.Get("where"))
		r.release.Impossible = append(r.release.Impossible, i)
		if root.Get("synthetic").Get(t.Name).Present() {
			r.NotBuilt(n.Position(), n.Path, "impossible on a table with microdata")
			r.MarkUnbuilt(n)
		}
	}
}

// readWhere reads the conditions that an impossible row meets, all of them.
func (r *reader) readWhere(t *Table, n document.Node) []Condition {
	all, everything := r.readConditions(t, n)
	if everything {
		r.Report(n.Heading(), n.Path, document.Problem{
			Message:  "every row is so: these are all categories",
			Expected: "some of the categories of one of the attributes at least",
		})
	}
	return all
}

// readConditions reads attributes with their categories, and reports whether every row meets all conditions. A
// condition on a derived column becomes one on its origin.
func (r *reader) readConditions(t *Table, n document.Node) (all []Condition, everything bool) {
	seen := map[string]string{}
	known, excluded := true, true
	for _, pair := range r.Entries(n) {
		column, level, dotted := strings.Cut(pair.Key.Value, ".")
		a := Attribute{Column: column, Level: level}
		at := pair.KeyNode()
		if !r.checkAttribute(t, at, a, dotted) {
			known = false
			continue
		}
		origin := t.originOf(a)
		if before := seen[origin.Column]; before != "" {
			r.AddProblem(at, document.Problem{Message: fmt.Sprintf("%s and %s are of one column", before, a),
				Expected: "each column once, at one level"})
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

// readCodes finds the categories of a condition among the categories of its level.
func (r *reader) readCodes(a Attribute, l *domain.Level, n document.Node) []int {
	items := n.ItemsOrSelf()
	code := make(map[string]int, len(items)) // by named category; -1 for one that does not exist
	for _, item := range items {
		code[item.Text()] = -1
	}
	for i, c := range l.Categories {
		if _, named := code[c.Code]; named {
			code[c.Code] = i
		}
	}
	var codes []int
	seen := map[int]bool{}
	for _, item := range items {
		at := code[item.Text()]
		switch {
		case at < 0:
			r.AddProblem(item, domain.NoCategory(r.Findings, item, a.String(), l.Categories))
		case seen[at]:
			r.AddProblem(item, document.Problem{Message: fmt.Sprintf("duplicate category %q",
				document.Clip(item.Text())),
				Expected: "each category once"})
		default:
			codes, seen[at] = append(codes, at), true
		}
	}
	slices.Sort(codes)
	return codes
}
