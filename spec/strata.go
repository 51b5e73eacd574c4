package spec

// This file reads the lattices of columns that have a separate range for each category of another column, and reports
// columns without a lattice where one is needed.

import (
	"fmt"
	"strings"

	"github.com/dprelease/dprelease/spec/domain"

	"github.com/dprelease/dprelease/spec/document"
)

// readStrata reads the ranges of columns that have one for each category of another, once all columns are read.
func (r *reader) readStrata(t *Table, columns document.Node) {
	for _, n := range r.Entries(columns) {
		bounds := n.Get("range")
		by := bounds.Get(domain.RangeBy)
		if !by.Present() {
			continue
		}
		c := t.Column(n.Key.Value)
		if r.SpreadMarks(n.Value); !r.IsBuilt(n) || c.Domain == nil && c.Lattice == nil {
			continue // already reported
		}
		if step := n.Get("step"); c.Type == domain.Decimal && !step.Present() {
			r.WrongKey(n, document.Problem{Message: fmt.Sprintf("%s has a range for each category and no step",
				c.Name), Expected: "the step to which values are rounded before they are added up", Fix: "step: 0.01"})
			r.MarkUnsound(n)
			continue
		}
		c.Lattice = r.stratifiedLattice(t, c, n, by)
	}
}

// stratifiedLattice returns the lattice of a column with its strata. It returns nil if a problem was reported.
func (r *reader) stratifiedLattice(t *Table, c *Column, n, by document.Node) *domain.Lattice {
	column, level, dotted := strings.Cut(by.Text(), ".")
	a := Attribute{column, level}
	origin := t.originOf(a)
	if origin.Column == c.Name {
		p := document.Problem{Message: fmt.Sprintf("the range of %s by %s itself", c.Name, c.Name),
			Expected: "another column, whose categories have ranges of their own"}
		if a != origin {
			p.Message = fmt.Sprintf("%s is derived from %s, whose range this is", a, c.Name)
		}
		r.AddProblem(by, p)
		return nil
	}
	if !r.checkAttribute(t, by, a, dotted) {
		return nil
	}
	l := levelOf(t, a)
	ranges, ok := r.domains.Strata(n, c.Type, a.String(), l)
	if !ok || c.Lattice == nil {
		return nil
	}
	c.Lattice.By = origin.Column
	if l == nil {
		return c.Lattice // not built, or already reported
	}
	at := levelOf(t, origin)
	c.Lattice.Strata = make([]domain.Stratum, t.Column(origin.Column).Domain.Size())
	for code := range c.Lattice.Strata {
		c.Lattice.Strata[code] = ranges[at.Category(code)]
	}
	return c.Lattice
}

// requireLattice returns the lattice of a column. If there is none it reports a problem at n, which needs one, unless
// the column has a problem already.
func (r *reader) requireLattice(root document.Node, t *Table, c *Column, n document.Node, what string) *domain.Lattice {
	column := root.Get("tables").Get(t.Name).Get("columns").Get(c.Name)
	if r.SpreadMarks(column.Value); !r.IsBuilt(column) || c.Domain == nil && c.Lattice == nil {
		return nil
	}
	bounds := column.Get("range")
	p := document.Problem{Expected: "a column of type integer or decimal with a range"}
	switch {
	case c.Lattice != nil && (c.Null.Action != As || c.Lattice.NullIsNumber()):
		return c.Lattice
	case c.Lattice != nil:
		as := column.Get("null").Get("as")
		r.AddProblem(as, document.Problem{
			Message: fmt.Sprintf("a null of %s counts as %q, which is no number in its range, and %s of the column needs one",
				c.Name, document.Clip(as.Text()), what),
			Expected: "null: drop, or null: {as: NUMBER}", Fix: "null: drop",
		})
		return nil
	case c.DerivedFrom != nil:
		p.Message = fmt.Sprintf("%s of %s, which is derived and not read", what, c.Name)
	case c.Type == domain.Date || c.Type == domain.Timestamp:
		p.Message = fmt.Sprintf("%s of %s, a column of type %s", what, c.Name, c.Type)
	case !bounds.Present():
		p.Message = fmt.Sprintf("%s of %s, whose values are categories", what, c.Name)
	case c.Type == domain.Decimal && !column.Get("step").Present():
		p = document.Problem{
			Message:  fmt.Sprintf("%s of %s, a decimal range without a step", what, c.Name),
			Expected: "a step in the column, to whose multiples values are rounded before they are added up: step: 0.01",
		}
		r.MarkUnsound(column) // so that it is reported once
	default:
		r.domains.CheckEnds(column, c.Type)
		return nil
	}
	r.AddProblem(n, p)
	return nil
}
