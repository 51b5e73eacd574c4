package spec

// This file reads lists of attributes of a marginal, those along which it is summed among them: cumulative tables, and
// sums of neighbouring categories that should be accurate.

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/spec/document"
)

// readAlong reads cumulative and ranges: attributes of by, each in at most one of the two.
func (r *reader) readAlong(m *Marginal, t *Table, n document.Node) {
	seen := map[Attribute]string{}
	m.Cumulative = r.readSummedAttributes(m, t, n, n.Get("cumulative"), seen)
	m.Ranges = r.readSummedAttributes(m, t, n, n.Get("ranges"), seen)
}

// readSummedAttributes reads one of the two lists. seen maps the attributes read before, in either list, to the key of
// their list.
func (r *reader) readSummedAttributes(m *Marginal, t *Table, n, along document.Node,
	seen map[Attribute]string) []Attribute {
	return r.readAttributesOf(m, n, along, func(a Attribute) (p document.Problem) {
		if before := seen[a]; before != "" {
			return document.Problem{Message: fmt.Sprintf("%s is in %s too", a, before),
				Expected: "an attribute in one of the two: a cumulative table has the sums from the first category " +
					"on, ranges is for those between any two"}
		}
		seen[a] = along.Key.Value
		if level := levelOf(t, a); level != nil && level.Size() < 2 {
			p = document.Problem{Message: fmt.Sprintf("%s has one category: there is nothing to sum up", a),
				Expected: "an attribute of at least two categories"}
		}
		return p
	})
}

// readAttributesOf reads a list of attributes of a marginal, which is read from the node n: each at most once. check
// returns what else is wrong with one; a problem without a message is none.
func (r *reader) readAttributesOf(m *Marginal, n, list document.Node,
	check func(a Attribute) document.Problem) (all []Attribute) {
	by, seen := n.Get("by").Texts(), map[string]bool{}
	for _, item := range list.Items() {
		name, p := item.Text(), document.Problem{}
		at := slices.IndexFunc(m.By, func(a Attribute) bool { return a.String() == name })
		switch {
		case !slices.Contains(by, name):
			p = r.notInBy(item, by)
		case seen[name]:
			p = document.Problem{Message: fmt.Sprintf("%s appears twice", name), Expected: "each attribute once"}
		case at >= 0:
			if p = check(m.By[at]); p.Message == "" {
				all = append(all, m.By[at])
			}
		}
		seen[name] = true
		if p.Message != "" {
			r.AddProblem(item, p)
		}
	}
	return all
}

// notInBy returns the problem of an attribute that is not in by. Another level of its column is the nearest name.
func (r *reader) notInBy(item document.Node, by []string) document.Problem {
	if len(by) == 0 {
		return document.Problem{Message: fmt.Sprintf("%q is not in by", document.Clip(item.Text())),
			Expected: "attributes of by, which has none"}
	}
	near := r.Nearest(item.Text(), by)
	column, _, _ := strings.Cut(item.Text(), ".")
	for _, a := range by {
		if of, _, _ := strings.Cut(a, "."); near == "" && of == column {
			near = a
		}
	}
	return r.WithNearest(item, document.Problem{Message: fmt.Sprintf("%q is not in by", document.Clip(item.Text())),
		Expected: document.OneOf(by)}, near)
}
