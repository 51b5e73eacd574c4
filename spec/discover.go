package spec

// This file holds columns whose categories nobody lists: what they are as keys of tables, and what a marginal by them
// may be.

import (
	"fmt"
	"slices"

	"github.com/dprelease/dprelease/spec/document"
	"github.com/dprelease/dprelease/spec/domain"
)

// isDiscovered reports whether nobody lists the categories of a column: those appear that a selection lets through.
func (c *Column) isDiscovered() bool { return c.Domain != nil && c.Domain.Discover() != nil }

// wholeLength is how many characters every whole number has that fits into 64 bits whatever its digits and sign are.
const wholeLength = 18

// KeyType is the type of a column's categories as keys of published tables. Those that nobody lists are integers where
// all of them would fit into 64 bits, and else texts: what type they have does not depend on which of them are
// selected.
func (c *Column) KeyType() domain.Type {
	if c.isDiscovered() && c.Domain.Discover().MaxLength > wholeLength {
		return domain.Text
	}
	return c.Type
}

// Discovers are the columns of a table whose categories are not listed, among those that a marginal is by.
func (t *Table) Discovers(by []Attribute) (all []*Column) {
	for _, a := range by {
		if c := t.Column(a.Column); c != nil && c.isDiscovered() {
			all = append(all, c)
		}
	}
	return all
}

// checkDiscovers reports what a marginal by columns whose categories are not listed cannot be.
func (r *reader) checkDiscovers(t *Table, m *Marginal, n document.Node) {
	columns := t.Discovers(m.By)
	if len(columns) == 0 {
		return
	}
	name := columns[0].Name
	by := n.Get("by")
	for _, item := range by.Items() {
		if item.Text() == name {
			by = item
		}
	}
	r.checkDiscoverBudget(by, name)
	r.notBeside(n, []conflict{
		{key: "every", why: "it asks for a table for each subset"},
		{key: "cumulative", why: "it counts up along a list of categories, and this table has some groups and not others"},
		{key: "ranges", why: "it adds up neighbouring categories, and this table has some groups and not others"},
		{key: "cells", why: "its threshold is of cells that are listed, and here the selection decides what appears"},
		{key: "target", why: "how many units a group must have to appear is no margin"},
		{key: "show", why: "there is nothing beside the count to show"},
		{key: "top", why: "the selection decides what appears"},
	}, func(never conflict) document.Problem {
		return document.Problem{Message: fmt.Sprintf("`%s` beside %s, whose categories are not listed: %s", never.key, name,
			never.why), Expected: "a second marginal, of columns that are listed"}
	})
	r.checkDiscoverFigures(t, m, n, by, name)
	switch {
	case r.release.Privacy.Total:
		r.Wrong(by, document.Problem{
			Message:  fmt.Sprintf("privacy is total, yet how many values %s has decides whether they fit into memory", name),
			Expected: "a list of its values"})
	case !t.measuresAll():
		r.Wrong(by, document.Problem{
			Message: fmt.Sprintf("%s, whose categories are not listed, beside a sample: the selection is not amplified by it in this version", name), Expected: "no sample, or a list of its values"})
	}
}

// checkDiscoverBudget reports budgets that cannot pay for a selection.
func (r *reader) checkDiscoverBudget(by document.Node, name string) {
	b := r.release.Budget
	p := document.Problem{Expected: "a budget of {epsilon, delta}, or a list of the values of " + name}
	switch {
	case b.Delta != nil:
		return
	case b.Epsilon != nil:
		p.Message = fmt.Sprintf(
			"a budget of ε alone cannot pay for groups that nobody listed, those of %s: what never appears without a unit may never appear with it, and so, unit by unit, no group of any size", name)
	case b.Rho != nil:
		p.Message = fmt.Sprintf(
			"a budget of ρ has no δ to pay for groups that nobody listed, those of %s: that one appears which a single unit has is a loss beyond every ρ, and only δ bounds how likely it is", name)
	default:
		return // already reported
	}
	r.Wrong(by, p)
}

// checkDiscoverFigures reports figures of groups that are not listed other than numbers of units, and groups of a unit
// without a bound.
func (r *reader) checkDiscoverFigures(t *Table, m *Marginal, n, by document.Node, name string) {
	at := n.Get("stats").Or(by)
	others := slices.ContainsFunc(m.Stats, func(s Stat) bool { return !s.Kind.countsRowsOrUnits() })
	units := slices.ContainsFunc(m.Stats, func(s Stat) bool { return s.Kind.countsUnits() })
	switch {
	case others || len(m.Stats) > 1:
		r.Wrong(at, document.Problem{
			Message:  "statistics beside the number of units, of groups that nobody listed, are not supported by this version",
			Expected: "stats: [units]; [count] where each row is a unit"})
	case !units && !t.Unit.Row:
		r.Wrong(at, document.Problem{
			Message:  fmt.Sprintf("groups of %s appear by how many units they have, and that is what their figure is", name),
			Expected: "the number of units", Fix: "stats: [units]"})
	case !units && t.isWeighted():
		r.Wrong(at, document.Problem{
			Message: fmt.Sprintf("groups of %s appear by how many units they have, and weights would count them as others",
				name), Expected: "a table without a weight"})
	}
	if per := n.Get("per_unit"); per.Get("rows_per_group").Present() || per.Get("total").Present() {
		r.WrongKey(per, document.Problem{Message: fmt.Sprintf("a unit counts once in each group of %s", name),
			Expected: "per_unit: {groups: N} alone"})
	}
	if t.Unit.Row || t.Unit.MaxRows == 1 || m.PerUnit.Groups > 0 {
		return
	}
	r.Wrong(by, document.Problem{
		Message:  fmt.Sprintf("nothing says in how many groups of %s one unit may count, by which the δ of the selection is divided", name),
		Expected: "per_unit: {groups: N} in the marginal", Fix: "per_unit: {groups: 1}",
	})
}
