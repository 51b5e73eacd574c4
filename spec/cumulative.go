package spec

// This file reads the attributes along which a marginal is summed: cumulative tables, and sums of neighbouring
// categories that should be accurate.

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/spec/document"
)

// readAlong reads cumulative and ranges: attributes of by, each in at most one of the two.
func (r *reader) readAlong(m *Marginal, t *Table, n document.Node) {
	seen := map[string]string{}
	m.Cumulative = r.readSummedAttributes(m, t, n, n.Get("cumulative"), seen)
	m.Ranges = r.readSummedAttributes(m, t, n, n.Get("ranges"), seen)
}

// readSummedAttributes reads one of the two lists. seen maps the attributes read before, in either list, to the key of
// their list.
func (r *reader) readSummedAttributes(m *Marginal, t *Table, n, along document.Node,
	seen map[string]string) []Attribute {
	by := n.Get("by").Texts()
	var all []Attribute
	for _, item := range along.Items() {
		name, p := item.Text(), document.Problem{}
		at := slices.IndexFunc(m.By, func(a Attribute) bool { return a.String() == name })
		switch before := seen[name]; {
		case !slices.Contains(by, name):
			p = r.notInBy(m, item, by)
		case before == along.Key.Value:
			p = document.Problem{Message: fmt.Sprintf("%s is there twice", name), Expected: "each attribute once"}
		case before != "":
			p = document.Problem{Message: fmt.Sprintf("%s is in %s too", name, before),
				Expected: "an attribute in one of the two: a cumulative table has the sums from the first category on, ranges is for those between any two"}
		case at >= 0:
			level := levelOf(t, m.By[at])
			if level == nil || level.Size() >= 2 {
				all = append(all, m.By[at])
				break
			}
			p = document.Problem{Message: fmt.Sprintf("%s has one category: there is nothing to sum up", name),
				Expected: "an attribute of at least two categories"}
		}
		seen[name] = along.Key.Value
		if p.Message != "" {
			r.AddProblem(item, p)
		}
	}
	return all
}

// notInBy returns the problem of an attribute that is not in by.
func (r *reader) notInBy(m *Marginal, item document.Node, by []string) document.Problem {
	if len(by) == 0 {
		return document.Problem{Message: fmt.Sprintf("%q is not in by", document.Clip(item.Text())),
			Expected: "attributes of by, which has none"}
	}
	near := r.Nearest(item.Text(), by)
	column, _, _ := strings.Cut(item.Text(), ".")
	for _, a := range m.By {
		if near == "" && a.Column == column {
			near = a.String()
		}
	}
	return r.WithNearest(item, document.Problem{Message: fmt.Sprintf("%q is not in by", document.Clip(item.Text())),
		Expected: document.OneOf(by)}, near)
}
