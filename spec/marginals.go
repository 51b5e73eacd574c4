package spec

// This file holds the reading of marginals: their attributes, sizes, table and leaf.

import (
	"fmt"
	"github.com/dprelease/dprelease/spec/document"
	"math/big"
	"slices"
	"strings"
)

func (r *reader) readMarginals(root document.Node) {
	for _, n := range r.Entries(root.Get("marginals")) {
		if r.Sound(n) {
			r.readMarginal(root, n)
		}
	}
}

func (r *reader) readMarginal(root, n document.Node) {
	m := Marginal{Name: n.Key.Value, Stats: []Stat{{Kind: Count, Name: "count"}}, Line: n.Key.Line}
	t := r.readTable(n, "the marginal's table")
	if t != nil {
		m.Table = t.Name
		m.By = r.readBy(root, t, n.Get("by"))
		r.readAlong(&m, t, n)
	}
	m.Every = r.readEvery(n)
	if t != nil {
		r.checkDecided(t, &m, n)
	}
	m.Target = r.readTarget(n.Get("target"))
	m.Above = r.readAbove(n)
	m.Top = r.readTop(t, &m, n)
	r.readStats(root, t, &m, n)
	r.checkTopStats(&m, n)
	if t != nil {
		r.checkDiscovers(t, &m, n)
	}
	m.Weight = r.readWeight(n.Get("weight"))
	m.Leaf = r.readLeaf(n)
	r.release.Marginals = append(r.release.Marginals, m)
}

// readTable finds the table that something is of, nil where that cannot be told. It may be left out where there is one.
func (r *reader) readTable(n document.Node, what string) *Table {
	tables := r.release.Tables
	if len(tables) == 0 {
		return nil
	}
	var names []string
	for _, t := range tables {
		names = append(names, t.Name)
	}
	at := n.Get("table")
	switch {
	case !at.Present() && len(tables) == 1:
		return tables[0]
	case !at.Present():
		r.Report(n.Heading(), n.Path, document.Problem{
			Message: "there is more than one table", Expected: what + ", " + document.OneOf(names),
			Fix: "table: " + names[0],
		})
		return nil
	}
	t := r.release.Table(at.Text())
	if t == nil {
		p := document.Problem{Message: fmt.Sprintf("no table %q", document.Clip(at.Text())), Expected: document.OneOf(names)}
		r.problem(at, r.nearestFix(at, p, r.Nearest(at.Text(), names)))
	}
	return t
}

// readBy reads the attributes of a marginal, of which no two are of one column.
func (r *reader) readBy(root document.Node, t *Table, n document.Node) []Attribute {
	seen := map[string]bool{}
	r.discovers = true
	defer func() { r.discovers = false }()
	return r.readAttributes(root, t, n, func(a Attribute) (document.Problem, bool) {
		twice := seen[a.Column]
		seen[a.Column] = true
		return document.Problem{Message: fmt.Sprintf("column %q is there twice", a.Column), Expected: "each column once in a marginal"}, !twice
	})
}

// readAttributes reads a list of attributes of a table, without those that are not there and
// those that may not stand in it.
func (r *reader) readAttributes(root document.Node, t *Table, n document.Node, may func(Attribute) (document.Problem, bool)) []Attribute {
	columns := root.Get("tables").Get(t.Name).Get("columns")
	if columns.Pairs() == nil {
		return nil // already reported
	}
	all := []Attribute{}
	for _, item := range n.Items() {
		column, level, dotted := strings.Cut(item.Text(), ".")
		a := Attribute{Column: column, Level: level}
		if !r.checkAttribute(t, item, a, dotted) {
			continue
		}
		if p, ok := may(a); !ok {
			r.problem(item, p)
			continue
		}
		all = append(all, a)
	}
	return all
}

// checkAttribute reports an attribute whose column or level there is not.
func (r *reader) checkAttribute(t *Table, n document.Node, a Attribute, dotted bool) bool {
	if !r.checkColumn(t, n, a) {
		return false
	}
	c := t.Column(a.Column)
	if c.Domain != nil && c.Domain.discover != nil && a.Level == "" && !dotted && !r.discovers {
		r.notListed(n, c)
		return false
	}
	if c.Domain == nil && c.Lattice != nil {
		r.problem(n, noCells(c))
		return false
	}
	if c.Domain == nil {
		return true // not built, or already reported
	}
	if _, ok := c.Domain.Level(a.Level); ok && !(dotted && a.Level == "") {
		return true
	}
	r.reportLevel(n, c, a, dotted)
	return false
}

// checkColumn reports a column that a table does not have.
func (r *reader) checkColumn(t *Table, n document.Node, a Attribute) bool {
	if t.Column(a.Column) != nil {
		return true
	}
	var names []string
	for _, c := range t.Columns {
		names = append(names, c.Name)
	}
	p := document.Problem{Message: fmt.Sprintf("table %s has no column %q", t.Name, document.Clip(a.Column)), Expected: document.OneOf(names)}
	if p.Nearest = r.Nearest(a.Column, names); p.Nearest != "" {
		p.Nearest = Attribute{p.Nearest, a.Level}.String()
		p.Fix = r.Mended(n.Value, p.Nearest)
	}
	r.problem(n, p)
	return false
}

// reportLevel reports a level that a column does not have.
func (r *reader) reportLevel(n document.Node, c *Column, a Attribute, dotted bool) {
	levels := c.Domain.LevelNames()
	var usable []string
	if c.Domain.finest != nil {
		usable = append(usable, c.Name)
	}
	for _, level := range levels {
		usable = append(usable, Attribute{c.Name, level}.String())
	}
	p := document.Problem{
		Message:  fmt.Sprintf("%s has no level %q", c.Name, document.Clip(a.Level)),
		Expected: document.OneOf(usable),
	}
	if a.Level == "" && !dotted {
		p.Message = fmt.Sprintf("%s is a %s range without step and so has no finest level", c.Name, c.Type)
		if len(usable) > 0 {
			p.Fix = r.Mended(n.Value, usable[0])
		}
		r.problem(n, p)
		return
	}
	if near := r.Nearest(a.Level, levels); near != "" {
		p.Nearest = Attribute{c.Name, near}.String()
		p.Fix = r.Mended(n.Value, p.Nearest)
	}
	r.problem(n, p)
}

func (r *reader) readEvery(n document.Node) []int {
	var sizes []int
	most := int64(len(n.Get("by").Items()))
	for _, item := range n.Get("every").Items() {
		size := r.whole(item)
		switch {
		case size > most:
			r.problem(item, document.Problem{Message: fmt.Sprintf("size %d of %d attributes", size, most), Expected: fmt.Sprintf("a size from 0 to %d", most)})
		case slices.Contains(sizes, int(size)):
			r.problem(item, document.Problem{Message: fmt.Sprintf("size %d is there twice", size), Expected: "each size once"})
		default:
			sizes = append(sizes, int(size))
		}
	}
	return sizes
}

// readWeight reads a weight between a millionth and a million.
func (r *reader) readWeight(n document.Node) *big.Rat {
	most := big.NewRat(1_000_000, 1)
	if !n.Present() {
		return big.NewRat(1, 1)
	}
	x, ok := r.number(n)
	if ok && (x.Sign() <= 0 || x.Cmp(most) > 0 || x.Cmp(new(big.Rat).Inv(most)) < 0) {
		r.problem(n, document.Problem{Message: "the weight is " + n.Text(), Expected: "a number from 1e-6 to 1e6"})
		ok = false
	}
	if !ok {
		return big.NewRat(1, 1)
	}
	return x
}

// readLeaf finds the leaf that pays for a marginal.
func (r *reader) readLeaf(n document.Node) string {
	leaves := r.leafPaths()
	if len(leaves) == 0 {
		return "" // already reported
	}
	at := n.Get("budget")
	split := leaves[0] != ""
	switch {
	case !at.Present() && !split:
		return ""
	case !at.Present() && !r.Built(n):
		return "" // the part that is not built may say what pays
	case at.Present() && !split:
		r.problem(at, document.Problem{Message: fmt.Sprintf("no leaf %q: the budget has no split", document.Clip(at.Text())), Expected: "no budget here, or a split of the budget"})
		return ""
	}
	name, on := n.Key.Value, document.Node{Value: n.Key, Path: n.Path}
	if at.Present() {
		name, on = at.Text(), at
	}
	leaf, candidates := r.leaf(name)
	if leaf != "" {
		return leaf
	}
	p := document.Problem{Message: fmt.Sprintf("no leaf %q in the budget", document.Clip(name)), Expected: document.OneOf(leaves)}
	switch {
	case len(candidates) > 0:
		p = ambiguousLeaf(name, candidates)
	case !at.Present():
		p.Message = fmt.Sprintf("nothing says which leaf pays for %s, and no leaf has its name", name)
		p.Fix = "budget: " + leaves[0]
	default:
		p = r.nearestFix(at, p, r.Nearest(name, leaves))
	}
	r.problem(on, p)
	return ""
}

// ambiguousLeaf is the name of several leaves.
func ambiguousLeaf(name string, candidates []string) document.Problem {
	return document.Problem{
		Message:  fmt.Sprintf("leaf %q is there more than once", name),
		Expected: document.OneOf(candidates), Fix: "budget: " + candidates[0],
	}
}
