package spec

// This file holds columns whose categories are not listed: the type of their keys in published tables, and the
// marginals in which they may occur.

import (
	"fmt"
	"slices"

	"github.com/dprelease/dprelease/spec/document"
	"github.com/dprelease/dprelease/spec/domain"
)

// isDiscovered reports whether the categories of a column are not listed, so that a private selection decides which
// appear.
func (c *Column) isDiscovered() bool { return c.Domain != nil && c.Domain.Discover() != nil }

// wholeLength is the largest number of characters with which every integer fits 64 bits, whatever its digits and sign.
const wholeLength = 18

// KeyType returns the type of a column's categories as keys of published tables. Unlisted categories are integers if
// all that may occur fit 64 bits, and texts otherwise: the type does not depend on which categories are selected.
func (c *Column) KeyType() domain.Type {
	if c.isDiscovered() && c.Domain.Discover().MaxLength > wholeLength {
		return domain.Text
	}
	return c.Type
}

// Discovers returns the columns of a table that a marginal is by and whose categories are not listed.
func (t *Table) Discovers(by []Attribute) (all []*Column) {
	for _, a := range by {
		if c := t.Column(a.Column); c != nil && c.isDiscovered() {
			all = append(all, c)
		}
	}
	return all
}

// checkDiscovers reports the settings that are invalid in a marginal by columns whose categories are not listed.
func (r *reader) checkDiscovers(t *Table, m *Marginal, n document.Node) {
	columns := t.Discovers(m.By)
	if len(columns) == 0 {
		return
	}
	if t.Collected != "" {
		r.checkAskedTexts(m, n)
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
	r.reportConflicts(n, []conflict{
		{key: "every", why: "it asks for a table for each subset"},
		{key: "each", why: "it asks for a table for each level"},
		{key: "cumulative", why: "it counts up along a list of categories, and this table has some groups and not others"},
		{key: "ranges", why: "it adds up neighbouring categories, and this table has some groups and not others"},
		{key: "cells", why: "its threshold is of cells that are listed, and here the selection decides what appears"},
		{key: "target", why: "how many units a group must have to appear is no margin"},
		{key: "show", why: "there is nothing to show but the count"},
		{key: "top", why: "the selection decides what appears"},
	}, func(never conflict) document.Problem {
		return document.Problem{Message: fmt.Sprintf("`%s` with %s, whose categories are not listed: %s", never.key,
			name,
			never.why), Expected: "a second marginal, of columns that are listed"}
	})
	r.checkDiscoverFigures(t, m, n, by, name)
	switch {
	case r.release.Privacy.Total:
		r.AddProblem(by, document.Problem{
			Message: fmt.Sprintf("privacy is total, yet how many values %s has decides whether they fit into memory",
				name),
			Expected: "a list of its values"})
	case !t.measuresAll():
		r.AddProblem(by, document.Problem{
			Message: fmt.Sprintf("%s, whose categories are not listed, with a sample: the selection is not amplified "+
				"by it in this version",
				name), Expected: "no sample, or a list of its values"})
	}
}

// refuseAlphabet reports an alphabet in a column of a table of rows.
func (r *reader) refuseAlphabet(t *Table, column document.Node) {
	if alphabet := column.Get("values").Get("discover").Get("alphabet"); t.Collected == "" && alphabet.Present() {
		r.WrongKey(alphabet, document.Problem{
			Message:  "alphabet is for texts that respondents are asked for, and this table has rows",
			Expected: "no alphabet"})
	}
}

// checkAskedTexts reports what is invalid in a marginal by texts that respondents are asked for and nobody lists.
func (r *reader) checkAskedTexts(m *Marginal, n document.Node) {
	if by := n.Get("by"); len(m.By) > 1 {
		r.AddProblem(by, document.Problem{Message: "a question for texts that nobody lists has no other attributes",
			Expected: "the column of the texts alone"})
	}
	if stats := n.Get("stats"); m.Asked() != "" {
		r.AddProblem(stats, document.Problem{Message: "texts that nobody lists can only be counted",
			Expected: "stats: [count]"})
	}
	r.reportConflicts(n, []conflict{
		{key: "every", why: "it asks for a table for each subset"},
		{key: "cumulative", why: "it counts up along a list of categories"},
		{key: "ranges", why: "it adds up neighbouring categories"},
		{key: "target", why: "the plan cannot know which texts will be found"},
		{key: "show", why: "there is nothing to show but the count"},
	}, func(never conflict) document.Problem {
		return document.Problem{Message: fmt.Sprintf("`%s` of texts that nobody lists: %s", never.key, never.why),
			Expected: "no " + never.key}
	})
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
			"a budget of ε alone cannot pay for groups that nobody listed, those of %s: what never appears without a "+
				"unit may never appear with it, and so, unit by unit, no group of any size",
			name)
	case b.Rho != nil:
		p.Message = fmt.Sprintf(
			"a budget of ρ has no δ to pay for groups that nobody listed, those of %s: that one appears which a "+
				"single unit has is a loss beyond every ρ, and only δ bounds how likely it is",
			name)
	default:
		return // already reported
	}
	r.AddProblem(by, p)
}

// checkDiscoverFigures reports statistics of unlisted groups other than numbers of units, and a missing bound on the
// groups of a unit.
func (r *reader) checkDiscoverFigures(t *Table, m *Marginal, n, by document.Node, name string) {
	at := n.Get("stats").Or(by)
	others := slices.ContainsFunc(m.Stats, func(s Stat) bool { return !s.Kind.countsRowsOrUnits() })
	units := slices.ContainsFunc(m.Stats, func(s Stat) bool { return s.Kind.countsUnits() })
	switch {
	case others || len(m.Stats) > 1:
		r.AddProblem(at, document.Problem{
			Message: "statistics other than the number of units, of groups that nobody listed, are not supported by " +
				"this version",
			Expected: "stats: [units]; [count] where each row is a unit"})
	case !units && !t.Unit.Row:
		r.AddProblem(at, document.Problem{
			Message: fmt.Sprintf("groups of %s appear by how many units they have, and that is what their figure is",
				name),
			Expected: "the number of units", Fix: "stats: [units]"})
	case !units && t.isWeighted():
		r.AddProblem(at, document.Problem{
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
	r.AddProblem(by, document.Problem{
		Message: fmt.Sprintf("nothing says in how many groups of %s one unit may count, by which the δ of the "+
			"selection is divided",
			name),
		Expected: "per_unit: {groups: N} in the marginal", Fix: "per_unit: {groups: 1}",
	})
}
