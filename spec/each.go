package spec

// This file reads marginals that are asked of every level of a column.

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/spec/document"
)

// readEach reads the levels of a marginal with `each`, and the leaves that pay for them: of a split by level first, the
// leaf of the marginal's budget within each level that has one, and otherwise one leaf for all.
func (r *reader) readEach(t *Table, m *Marginal, n document.Node) {
	at := n.Get("each")
	if !at.Present() {
		return
	}
	levels := r.levelsOfEach(t, m, at)
	if levels == nil {
		return
	}
	name := n.Key.Value
	if budget := n.Get("budget"); budget.Present() {
		name = budget.Text()
	}
	for _, a := range levels {
		level := EachLevel{Attribute: a}
		level.Leaf = level.Name() + "." + name
		if r.hasLeaf(level.Leaf) {
			m.Each = append(m.Each, level)
		}
	}
	if m.Each == nil {
		m.Leaf = r.readLeaf(n)
		for _, a := range levels {
			m.Each = append(m.Each, EachLevel{a, m.Leaf})
		}
		return
	}
}

// levelsOfEach returns the levels of the column that `each` names, coarse to fine. It returns nil if there is a problem.
func (r *reader) levelsOfEach(t *Table, m *Marginal, at document.Node) []Attribute {
	name := at.Text()
	if column, level, dotted := strings.Cut(name, "."); dotted {
		r.AddProblem(at, document.Problem{Message: fmt.Sprintf("%q names a level, and each level of %s is a table",
			document.Clip(level), document.Clip(column)), Expected: "the column alone", Fix: "each: " + column})
		return nil
	}
	if !r.checkAttribute(t, at, Attribute{Column: name}, false) {
		return nil
	}
	c := t.Column(name)
	switch {
	case c.Domain == nil:
		return nil // already reported, or not built
	case len(c.Domain.LevelNames()) == 0:
		r.AddProblem(at, document.Problem{Message: fmt.Sprintf("column %q has no levels", name),
			Expected: "a column with levels, such as a code book of areas with `levels: [state, county]`"})
		return nil
	case slices.ContainsFunc(m.By, func(a Attribute) bool { return a.Column == name }):
		r.AddProblem(at, document.Problem{Message: fmt.Sprintf("column %q is among the attributes of by already", name),
			Expected: "`by` without it: each table is by one of its levels and by the attributes of by"})
		return nil
	}
	return t.levelsOf(name)
}

// hasSplit reports whether the budget has a split.
func (r *reader) hasSplit() bool { return !r.hasLeaf("") }

// hasLeaf reports whether the budget's split has a leaf at this path.
func (r *reader) hasLeaf(path string) bool { return slices.Contains(r.leafPaths(), path) }

// checkLevelsPaid reports levels of a column that no marginal measures, where the budget is split by level first.
func (r *reader) checkLevelsPaid(root document.Node) {
	for _, t := range r.release.Tables {
		for _, c := range t.Columns {
			r.checkLevelsOf(root, t, c)
		}
	}
}

func (r *reader) checkLevelsOf(root document.Node, t *Table, c *Column) {
	measured, split := map[Attribute]bool{}, false
	for _, m := range r.release.Marginals {
		if m.Each == nil || m.Table != t.Name || m.Each[0].Attribute.Column != c.Name {
			continue
		}
		split = split || m.Leaf == ""
		for _, l := range m.Each {
			measured[l.Attribute] = true
		}
	}
	if !split || !r.hasSplit() {
		return
	}
	var missing []string
	for _, a := range t.levelsOf(c.Name) {
		if !measured[a] {
			missing = append(missing, EachLevel{Attribute: a}.Name())
		}
	}
	if missing == nil {
		return
	}
	r.AddProblem(root.Get("budget").Get("split"), document.Problem{
		Message: fmt.Sprintf("no share is for %s, and marginals are asked of each level of %s",
			strings.Join(missing, ", "), c.Name),
		Expected: "a share for every level, split by marginal; or `levels` of " + c.Name + " without these",
	})
}
