package spec

// This file holds the reading of attributes: tables, columns and levels that something names.

import (
	"fmt"
	"strings"

	"github.com/dprelease/dprelease/spec/domain"

	"github.com/dprelease/dprelease/spec/document"
)

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
		r.Wrong(at, r.WithNearest(at, p, r.Nearest(at.Text(), names)))
	}
	return t
}

// readAttributes reads a list of attributes of a table, without those that are not there and
// those that may not stand in it.
func (r *reader) readAttributes(root document.Node, t *Table, n document.Node,
	may func(Attribute) (document.Problem, bool)) []Attribute {
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
			r.Wrong(item, p)
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
	if c.isDiscovered() && a.Level == "" && !dotted && !r.discovers {
		r.notListed(n, c)
		return false
	}
	if c.Domain == nil && c.Lattice != nil {
		r.Wrong(n, noCells(c))
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
	p := document.Problem{Message: fmt.Sprintf("table %s has no column %q", t.Name, document.Clip(a.Column)),
		Expected: document.OneOf(names)}
	if p.Nearest = r.Nearest(a.Column, names); p.Nearest != "" {
		p.Nearest = Attribute{p.Nearest, a.Level}.String()
		p.Fix = r.Mended(n.Value, p.Nearest)
	}
	r.Wrong(n, p)
	return false
}

// reportLevel reports a level that a column does not have.
func (r *reader) reportLevel(n document.Node, c *Column, a Attribute, dotted bool) {
	levels := c.Domain.LevelNames()
	var usable []string
	if _, ok := c.Domain.Level(""); ok {
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
		r.Wrong(n, p)
		return
	}
	if near := r.Nearest(a.Level, levels); near != "" {
		p.Nearest = Attribute{c.Name, near}.String()
		p.Fix = r.Mended(n.Value, p.Nearest)
	}
	r.Wrong(n, p)
}

// noCells is the problem of a column that is for statistics alone.
func noCells(c *Column) document.Problem {
	return document.Problem{
		Message:  fmt.Sprintf("%s has more than %d cells and no levels: it is for statistics alone", c.Name, domain.MaxCells),
		Expected: fmt.Sprintf("a column with a larger step; it may read the same values, with from: %s", c.Origin()),
	}
}

// notListed reports an attribute whose categories are not listed where they would have to be.
func (r *reader) notListed(n document.Node, c *Column) {
	r.Wrong(n, document.Problem{
		Message:  fmt.Sprintf("the categories of %s are not listed: they become known by a selection that is paid for, and only there", c.Name),
		Expected: "it in the `by` of a marginal, or a list of its values",
	})
}
