package spec

// This file resolves the names of tables, columns and levels.

import (
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/dprelease/dprelease/spec/domain"

	"github.com/dprelease/dprelease/spec/document"
)

// tableNames returns the names of the tables.
func (r *reader) tableNames() []string {
	return namesOf(r.release.Tables, func(t *Table) string { return t.Name })
}

// readTable finds the table named under key table, which is optional if there is only one table. It returns nil and
// reports a problem if the table is unknown.
func (r *reader) readTable(n document.Node, what string) *Table {
	at, tables := n.Get("table"), r.release.Tables
	switch {
	case at.Present() || len(tables) == 0:
		return r.findTable(at)
	case len(tables) == 1:
		return tables[0]
	}
	r.Report(n.Heading(), n.Path, document.Problem{
		Message: "there is more than one table", Expected: what + ", " + document.OneOf(r.tableNames()),
		Fix: "table: " + r.likeliestTable(n).Name,
	})
	return nil
}

// likeliestTable returns the table with the most columns that an entry names, the first of several.
func (r *reader) likeliestTable(entry document.Node) *Table {
	named := map[string]bool{}
	var collect func(*yaml.Node)
	collect = func(n *yaml.Node) {
		column, _, _ := strings.Cut(n.Value, ".") // "" of a list or a mapping
		named[column] = true
		for _, inner := range n.Content {
			collect(inner)
		}
	}
	collect(entry.Value)
	likeliest, most := r.release.Tables[0], 0
	for _, t := range r.release.Tables {
		has := 0
		for _, c := range t.Columns {
			if named[c.Name] {
				has++
			}
		}
		if has > most {
			likeliest, most = t, has
		}
	}
	return likeliest
}

// findTable finds the table that is named at a node. It reports an unknown name, unless there are no tables at all.
func (r *reader) findTable(at document.Node) *Table {
	t := r.release.Table(at.Text())
	if t == nil && len(r.release.Tables) > 0 {
		names := r.tableNames()
		r.AddProblem(at, r.Among(at, document.Problem{Message: fmt.Sprintf("no table %q", document.Clip(at.Text())),
			Expected: document.OneOf(names)}, names))
	}
	return t
}

// readAttributes reads a list of attributes of a table, without unknown ones and those that `may` rejects.
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
		if p, ok := may(a); ok {
			all = append(all, a)
		} else {
			r.AddProblem(item, p)
		}
	}
	return all
}

// eachColumnOnce returns a condition on attributes: no two are of the same column.
func eachColumnOnce(expected string) func(Attribute) (document.Problem, bool) {
	seen := map[string]bool{}
	return func(a Attribute) (document.Problem, bool) {
		twice := seen[a.Column]
		seen[a.Column] = true
		return document.Problem{Message: fmt.Sprintf("column %q appears twice", a.Column), Expected: expected}, !twice
	}
}

// checkAttribute reports an attribute whose column or level does not exist.
func (r *reader) checkAttribute(t *Table, n document.Node, a Attribute, dotted bool) bool {
	if !r.checkColumn(t, n, a) {
		return false
	}
	c := t.Column(a.Column)
	switch {
	case c.isDiscovered() && a.Level == "" && !dotted && !r.allowsUnlisted:
		r.reportNotListed(n, c)
	case c.Domain == nil && c.Lattice != nil:
		r.AddProblem(n, noCellsProblem(c))
	case c.Domain != nil && (levelOf(t, a) == nil || dotted && a.Level == ""):
		r.reportLevel(n, c, a, dotted)
	default:
		return true // also if the domain is missing because it is not built or has a problem
	}
	return false
}

// checkColumn reports a column that a table does not have.
func (r *reader) checkColumn(t *Table, n document.Node, a Attribute) bool {
	if t.Column(a.Column) != nil {
		return true
	}
	names := namesOf(t.Columns, func(c *Column) string { return c.Name })
	near := r.Nearest(a.Column, names)
	if near != "" {
		near = Attribute{near, a.Level}.String()
	}
	r.AddProblem(n, r.WithNearest(n, document.Problem{Message: fmt.Sprintf("table %s has no column %q", t.Name,
		document.Clip(a.Column)), Expected: document.OneOf(names)}, near))
	return false
}

// reportLevel reports a level that a column does not have.
func (r *reader) reportLevel(n document.Node, c *Column, a Attribute, dotted bool) {
	levels := c.Domain.LevelNames()
	usable := namesOf(levels, func(level string) string { return Attribute{c.Name, level}.String() })
	if _, ok := c.Domain.Level(""); ok {
		usable = slices.Insert(usable, 0, c.Name)
	}
	p := document.Problem{
		Message:  fmt.Sprintf("%s has no level %q", c.Name, document.Clip(a.Level)),
		Expected: document.OneOf(usable),
	}
	if a.Level == "" && !dotted {
		p.Message = fmt.Sprintf("%s is a %s range without step and so has no finest level", c.Name, c.Type)
		if len(usable) > 0 {
			p.Fix = r.RepairedLine(n.Value, usable[0])
		}
		r.AddProblem(n, p)
		return
	}
	near := r.Nearest(a.Level, levels)
	if near != "" {
		near = Attribute{c.Name, near}.String()
	}
	r.AddProblem(n, r.WithNearest(n, p, near))
}

// noCellsProblem returns the problem of a column that serves only statistics.
func noCellsProblem(c *Column) document.Problem {
	return document.Problem{
		Message: fmt.Sprintf("%s has more than %d cells and no levels: it is for statistics alone", c.Name,
			domain.MaxCells),
		Expected: fmt.Sprintf("a column with a larger step; it may read the same values, with from: %s",
			c.DescribeSource()),
	}
}

// reportNotListed reports an attribute whose categories are not listed where they must be.
func (r *reader) reportNotListed(n document.Node, c *Column) {
	r.AddProblem(n, document.Problem{
		Message: fmt.Sprintf("the categories of %s are not listed: they become known by a selection that is paid "+
			"for, and only there",
			c.Name),
		Expected: "it in the `by` of a marginal, or a list of its values",
	})
}
