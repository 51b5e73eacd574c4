package spec

// This file holds the reading of the attributes along which a marginal is summed up: cumulative tables, and sums of
// neighbouring categories that are to be accurate.

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/spec/document"
)

// readAlong reads cumulative and ranges: attributes of by, each in one of the two at most.
func (r *reader) readAlong(m *Marginal, t *Table, n document.Node) {
	seen := map[string]string{}
	m.Cumulative = r.readSummed(m, t, n, n.Get("cumulative"), seen)
	m.Ranges = r.readSummed(m, t, n, n.Get("ranges"), seen)
}

// readSummed reads one of the two lists. Those that were seen before, here or in the other list, are in seen with its
// key.
func (r *reader) readSummed(m *Marginal, t *Table, n, along document.Node, seen map[string]string) []Attribute {
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
			r.Wrong(item, p)
		}
	}
	return all
}

// notInBy is an attribute that by does not have.
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
