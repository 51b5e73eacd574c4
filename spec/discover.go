package spec

// This file holds columns whose categories nobody lists: groups of them appear in a table only where a paid selection lets
// them through.

import (
	"cmp"
	"fmt"
	"github.com/dprelease/dprelease/spec/document"
	"github.com/dprelease/dprelease/spec/shape"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Discover says that the categories of a column are not listed: they are the values that its rows have.
type Discover struct {
	// MaxLength is how many characters a value has at most that can be a category.
	MaxLength int64
	// AtLeast is how many units a group has at least that may appear, 0 for no such rule.
	AtLeast int64
}

// MostKey bounds the characters of a key that is discovered.
const MostKey = 1000

// Discover is what is said of the categories of a domain that are not listed; nil where they are. Such a domain has none:
// [Domain.Discovered] is the same with some.
func (d *Domain) Discover() *Discover { return d.discover }

// CompareKeys is negative, 0 or positive as one category comes before another, of a domain that lists none: integers by their
// size, texts by their bytes.
func (d *Domain) CompareKeys(a, b string) int {
	if d.of != Integer {
		return strings.Compare(a, b)
	}
	below, other := strings.HasPrefix(a, "-"), strings.HasPrefix(b, "-")
	switch {
	case below != other && below:
		return -1
	case below != other:
		return 1
	case below:
		a, b = b, a
	}
	return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
}

// Discovered is the domain with these categories, in ascending order ([Domain.CompareKeys]), each once.
func (d *Domain) Discovered(keys []string) *Domain {
	if len(keys) == 0 { // one that no value is
		none := newTexts(d.of, []Category{{}})
		none.discover, none.texts = d.discover, map[string]int{}
		return none
	}
	categories := make([]Category, len(keys))
	for i, k := range keys {
		categories[i].Code = k
	}
	out := newTexts(d.of, categories)
	out.discover = d.discover
	return out
}

// CanBeKey tells that a value, as text, can be a category of a domain that lists none: valid UTF-8 of 1 to MaxLength
// characters, none of them a control character; in a column of integers digits as integers are written.
func (d *Domain) CanBeKey(text string) bool {
	if text == "" || int64(len(text)) > utf8.UTFMax*d.discover.MaxLength || !utf8.ValidString(text) || int64(utf8.RuneCountInString(text)) > d.discover.MaxLength {
		return false
	}
	return !strings.ContainsFunc(text, unicode.IsControl) && (d.of != Integer || canonicalInteger.MatchString(text))
}

// wholeLength is how many characters every whole number has that fits into 64 bits whatever its digits and sign are.
const wholeLength = 18

// KeyType is the type of a column's categories as keys of published tables. Those that nobody lists are integers where all of them
// would fit into 64 bits, and else texts: what type they have does not depend on which of them are selected.
func (c *Column) KeyType() Type {
	if c.Domain != nil && c.Domain.discover != nil && c.Domain.discover.MaxLength > wholeLength {
		return Text
	}
	return c.Type
}

// Discovers are the columns of a table whose categories are not listed, among those that a marginal is by.
func (t *Table) Discovers(by []Attribute) (all []*Column) {
	for _, a := range by {
		if c := t.Column(a.Column); c != nil && c.Domain != nil && c.Domain.discover != nil {
			all = append(all, c)
		}
	}
	return all
}

func discoverShape() *shape.Shape {
	return shape.Object("{discover: {max_length: N}}: the categories are the values that enough units have",
		shape.Field{Key: "discover", Shape: shape.Object("{max_length: N}, with at_least: M where smaller groups must never appear",
			shape.Field{Key: "max_length", Shape: shape.Whole(fmt.Sprintf("a whole number of characters, from 1 to %d", MostKey), 1, MostKey), Required: "the most characters of a value that can be a category", Fix: "max_length: 40"},
			shape.Field{Key: "at_least", Shape: shape.Whole("a whole number of units, from 1 to 1000000", 1, mostOfAUnit)})})
}

// readDiscover reads a domain without categories.
func (r *reader) readDiscover(c *Column, n document.Node) *Domain {
	of := n.Get("values").Get("discover")
	if c.Type != Text && c.Type != Integer {
		r.problem(n.Get("type"), document.Problem{Message: "values of type " + string(c.Type) + " are not discovered", Expected: "text or integer"})
		return nil
	}
	if levels := n.Get("levels"); levels.Present() {
		r.Report(levels.Key, levels.Path, document.Problem{Message: "levels of categories that nobody lists", Expected: "no levels, or a list of the values"})
		return nil
	}
	for _, key := range []string{"unknown", "null"} {
		if as := n.Get(key).Get("as"); as.Present() {
			r.problem(as, document.Problem{Message: "a category of its own in a column whose categories are not listed", Expected: key + ": error or drop", Fix: key + ": drop"})
			return nil
		}
	}
	d := newTexts(c.Type, nil)
	d.discover = &Discover{MaxLength: r.whole(of.Get("max_length"))}
	if least := of.Get("at_least"); least.Present() {
		d.discover.AtLeast = r.whole(least)
	}
	return d
}

// notListed reports an attribute whose categories are not listed where they would have to be.
func (r *reader) notListed(n document.Node, c *Column) {
	r.problem(n, document.Problem{
		Message:  fmt.Sprintf("the categories of %s are not listed: they become known by a selection that is paid for, and only there", c.Name),
		Expected: "it in the `by` of a marginal, or a list of its values",
	})
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
	report := func(at document.Node, p document.Problem) { r.Report(at.Key, at.Path, p) }
	for _, never := range []struct{ key, why string }{
		{"every", "it asks for a table for each subset"},
		{"cumulative", "it counts up along a list of categories, and this table has some groups and not others"},
		{"ranges", "it adds up neighbouring categories, and this table has some groups and not others"},
		{"cells", "its threshold is of cells that are listed, and here the selection decides what appears"},
		{"target", "how many units a group must have to appear is no margin"},
		{"show", "there is nothing beside the count to show"},
		{"top", "the selection decides what appears"},
	} {
		if other := n.Get(never.key); r.Sound(other) {
			report(other, document.Problem{Message: fmt.Sprintf("`%s` beside %s, whose categories are not listed: %s", never.key, name, never.why), Expected: "a second marginal, of columns that are listed"})
		}
	}
	r.checkDiscoverFigures(t, m, n, by, name)
	switch {
	case r.release.Privacy.Total:
		r.problem(by, document.Problem{Message: fmt.Sprintf("privacy is total, yet how many values %s has decides whether they fit into memory", name), Expected: "a list of its values"})
	case t.Sample != nil:
		r.problem(by, document.Problem{Message: fmt.Sprintf("%s, whose categories are not listed, beside a sample: the selection is not amplified by it in this version", name), Expected: "no sample, or a list of its values"})
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
		p.Message = fmt.Sprintf("a budget of ε alone cannot pay for groups that nobody listed, those of %s: what never appears without a unit may never appear with it, and so, unit by unit, no group of any size", name)
	case b.Rho != nil:
		p.Message = fmt.Sprintf("a budget of ρ has no δ to pay for groups that nobody listed, those of %s: that one appears which a single unit has is a loss beyond every ρ, and only δ bounds how likely it is", name)
	default:
		return // already reported
	}
	r.problem(by, p)
}

// checkDiscoverFigures reports figures of groups that are not listed other than numbers of units, and groups of a unit
// without a bound.
func (r *reader) checkDiscoverFigures(t *Table, m *Marginal, n, by document.Node, name string) {
	stats := n.Get("stats")
	at := by
	if stats.Present() {
		at = stats
	}
	others := slices.ContainsFunc(m.Stats, func(s Stat) bool { return s.Kind != Units && s.Kind != Count })
	units := slices.ContainsFunc(m.Stats, func(s Stat) bool { return s.Kind == Units })
	switch {
	case others || len(m.Stats) > 1:
		r.problem(at, document.Problem{Message: "statistics beside the number of units, of groups that nobody listed, are not supported by this version", Expected: "stats: [units]; [count] where each row is a unit"})
	case !units && !t.Unit.Row:
		r.problem(at, document.Problem{Message: fmt.Sprintf("groups of %s appear by how many units they have, and that is what their figure is", name), Expected: "the number of units", Fix: "stats: [units]"})
	case !units && t.Weight != nil:
		r.problem(at, document.Problem{Message: fmt.Sprintf("groups of %s appear by how many units they have, and weights would count them as others", name), Expected: "a table without a weight"})
	}
	if per := n.Get("per_unit"); per.Get("rows_per_group").Present() || per.Get("total").Present() {
		r.Report(per.Key, per.Path, document.Problem{Message: fmt.Sprintf("a unit counts once in each group of %s", name), Expected: "per_unit: {groups: N} alone"})
	}
	if t.Unit.Row || t.Unit.MaxRows == 1 || m.PerUnit.Groups > 0 {
		return
	}
	r.problem(by, document.Problem{
		Message:  fmt.Sprintf("nothing says in how many groups of %s one unit may count, by which the δ of the selection is divided", name),
		Expected: "per_unit: {groups: N} in the marginal", Fix: "per_unit: {groups: 1}",
	})
}
