package spec

// This file holds the reading of marginals: their attributes, sizes, table and leaf.

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
)

func (r *reader) readMarginals(root node) {
	for _, n := range r.entries(root.get("marginals")) {
		if r.sound(n) {
			r.readMarginal(root, n)
		}
	}
}

func (r *reader) readMarginal(root, n node) {
	m := Marginal{Name: n.key.Value, Stats: []Stat{{Kind: Count, Name: "count"}}, Line: n.key.Line}
	t := r.readTable(n, "the marginal's table")
	if t != nil {
		m.Table = t.Name
		m.By = r.readBy(root, t, n.get("by"))
		r.readAlong(&m, t, n)
	}
	m.Every = r.readEvery(n)
	if t != nil {
		r.checkDecided(t, &m, n)
	}
	m.Target = r.readTarget(n.get("target"))
	m.Above = r.readAbove(n)
	m.Top = r.readTop(t, &m, n)
	r.readStats(root, t, &m, n)
	r.checkTopStats(&m, n)
	if t != nil {
		r.checkDiscovers(t, &m, n)
	}
	m.Weight = r.readWeight(n.get("weight"))
	m.Leaf = r.readLeaf(n)
	r.release.Marginals = append(r.release.Marginals, m)
}

// readTable finds the table that something is of, nil where that cannot be told. It may be left out where there is one.
func (r *reader) readTable(n node, what string) *Table {
	tables := r.release.Tables
	if len(tables) == 0 {
		return nil
	}
	var names []string
	for _, t := range tables {
		names = append(names, t.Name)
	}
	at := n.get("table")
	switch {
	case !at.present() && len(tables) == 1:
		return tables[0]
	case !at.present():
		r.report(n.heading(), n.path, Problem{
			Message: "there is more than one table", Expected: what + ", " + oneOf(names),
			Fix: "table: " + names[0],
		})
		return nil
	}
	t := r.release.Table(at.text())
	if t == nil {
		p := Problem{Message: fmt.Sprintf("no table %q", clip(at.text())), Expected: oneOf(names)}
		r.problem(at, r.nearestFix(at, p, r.nearest(at.text(), names)))
	}
	return t
}

// readBy reads the attributes of a marginal, of which no two are of one column.
func (r *reader) readBy(root node, t *Table, n node) []Attribute {
	seen := map[string]bool{}
	r.discovers = true
	defer func() { r.discovers = false }()
	return r.readAttributes(root, t, n, func(a Attribute) (Problem, bool) {
		twice := seen[a.Column]
		seen[a.Column] = true
		return Problem{Message: fmt.Sprintf("column %q is there twice", a.Column), Expected: "each column once in a marginal"}, !twice
	})
}

// readAttributes reads a list of attributes of a table, without those that are not there and
// those that may not stand in it.
func (r *reader) readAttributes(root node, t *Table, n node, may func(Attribute) (Problem, bool)) []Attribute {
	columns := root.get("tables").get(t.Name).get("columns")
	if columns.pairs() == nil {
		return nil // already reported
	}
	all := []Attribute{}
	for _, item := range n.items() {
		column, level, dotted := strings.Cut(item.text(), ".")
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
func (r *reader) checkAttribute(t *Table, n node, a Attribute, dotted bool) bool {
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
func (r *reader) checkColumn(t *Table, n node, a Attribute) bool {
	if t.Column(a.Column) != nil {
		return true
	}
	var names []string
	for _, c := range t.Columns {
		names = append(names, c.Name)
	}
	p := Problem{Message: fmt.Sprintf("table %s has no column %q", t.Name, clip(a.Column)), Expected: oneOf(names)}
	if p.Nearest = r.nearest(a.Column, names); p.Nearest != "" {
		p.Nearest = Attribute{p.Nearest, a.Level}.String()
		p.Fix = r.mended(n.value, p.Nearest)
	}
	r.problem(n, p)
	return false
}

// reportLevel reports a level that a column does not have.
func (r *reader) reportLevel(n node, c *Column, a Attribute, dotted bool) {
	levels := c.Domain.LevelNames()
	var usable []string
	if c.Domain.finest != nil {
		usable = append(usable, c.Name)
	}
	for _, level := range levels {
		usable = append(usable, Attribute{c.Name, level}.String())
	}
	p := Problem{
		Message:  fmt.Sprintf("%s has no level %q", c.Name, clip(a.Level)),
		Expected: oneOf(usable),
	}
	if a.Level == "" && !dotted {
		p.Message = fmt.Sprintf("%s is a %s range without step and so has no finest level", c.Name, c.Type)
		if len(usable) > 0 {
			p.Fix = r.mended(n.value, usable[0])
		}
		r.problem(n, p)
		return
	}
	if near := r.nearest(a.Level, levels); near != "" {
		p.Nearest = Attribute{c.Name, near}.String()
		p.Fix = r.mended(n.value, p.Nearest)
	}
	r.problem(n, p)
}

func (r *reader) readEvery(n node) []int {
	var sizes []int
	most := int64(len(n.get("by").items()))
	for _, item := range n.get("every").items() {
		size := r.whole(item)
		switch {
		case size > most:
			r.problem(item, Problem{Message: fmt.Sprintf("size %d of %d attributes", size, most), Expected: fmt.Sprintf("a size from 0 to %d", most)})
		case slices.Contains(sizes, int(size)):
			r.problem(item, Problem{Message: fmt.Sprintf("size %d is there twice", size), Expected: "each size once"})
		default:
			sizes = append(sizes, int(size))
		}
	}
	return sizes
}

// readWeight reads a weight between a millionth and a million.
func (r *reader) readWeight(n node) *big.Rat {
	most := big.NewRat(1_000_000, 1)
	if !n.present() {
		return big.NewRat(1, 1)
	}
	x, ok := r.number(n)
	if ok && (x.Sign() <= 0 || x.Cmp(most) > 0 || x.Cmp(new(big.Rat).Inv(most)) < 0) {
		r.problem(n, Problem{Message: "the weight is " + n.text(), Expected: "a number from 1e-6 to 1e6"})
		ok = false
	}
	if !ok {
		return big.NewRat(1, 1)
	}
	return x
}

// readLeaf finds the leaf that pays for a marginal.
func (r *reader) readLeaf(n node) string {
	leaves := r.leafPaths()
	if len(leaves) == 0 {
		return "" // already reported
	}
	at := n.get("budget")
	split := leaves[0] != ""
	switch {
	case !at.present() && !split:
		return ""
	case !at.present() && !r.built(n):
		return "" // the part that is not built may say what pays
	case at.present() && !split:
		r.problem(at, Problem{Message: fmt.Sprintf("no leaf %q: the budget has no split", clip(at.text())), Expected: "no budget here, or a split of the budget"})
		return ""
	}
	name, on := n.key.Value, node{value: n.key, path: n.path}
	if at.present() {
		name, on = at.text(), at
	}
	leaf, candidates := r.leaf(name)
	if leaf != "" {
		return leaf
	}
	p := Problem{Message: fmt.Sprintf("no leaf %q in the budget", clip(name)), Expected: oneOf(leaves)}
	switch {
	case len(candidates) > 0:
		p = ambiguousLeaf(name, candidates)
	case !at.present():
		p.Message = fmt.Sprintf("nothing says which leaf pays for %s, and no leaf has its name", name)
		p.Fix = "budget: " + leaves[0]
	default:
		p = r.nearestFix(at, p, r.nearest(name, leaves))
	}
	r.problem(on, p)
	return ""
}

// ambiguousLeaf is the name of several leaves.
func ambiguousLeaf(name string, candidates []string) Problem {
	return Problem{
		Message:  fmt.Sprintf("leaf %q is there more than once", name),
		Expected: oneOf(candidates), Fix: "budget: " + candidates[0],
	}
}
