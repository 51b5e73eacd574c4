package describe

import (
	"slices"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/attributes"
	"github.com/dprelease/dprelease/spec"
)

// This file finds the tables from which rules of the spec leave rows out.

// LeavesRowsOut reports whether a rule can leave rows of a confidential table out: a policy of a column that the plan
// reads, an entry of `impossible`, or a rule for rows without an id or a weight. A column that nothing uses is not
// read, so its policies leave nothing out.
func LeavesRowsOut(p *plan.Plan, t *spec.Table) bool {
	return !t.Unit.Row && t.Unit.Null == spec.Drop || t.DropsUnweighted() ||
		slices.ContainsFunc(p.Release().Impossible, func(e spec.Impossible) bool {
			return e.Table == t.Name &&
				e.Drop
		}) ||
		slices.ContainsFunc(t.Columns, func(c *spec.Column) bool {
			return (c.Unknown.Action == spec.Drop || c.Null.Action == spec.Drop) && isRead(p, t, c)
		})
}

// isRead reports whether a plan reads a column of a confidential table: rows are counted by it, its values are added
// up, ranked or distinguished, a model is fitted to it, or an entry of `impossible` has it.
func isRead(p *plan.Plan, t *spec.Table, c *spec.Column) bool {
	is := func(attribute string) bool {
		return attributes.Counted(t, plan.AttributeOf(attribute)).Column == c.Name
	}
	of := func(f plan.Factor) bool { return f.Attribute == c.Name }
	return slices.ContainsFunc(p.Measurements, func(m plan.Measurement) bool {
		if m.Query.Table != t.Name {
			return false
		}
		read := m.Query.Counted.Reads()
		if read == "" {
			return slices.ContainsFunc(m.Query.Factors, of)
		}
		l := t.Column(read).Lattice
		return read == c.Name || l != nil && l.By != "" && is(l.By) || slices.ContainsFunc(m.Query.Factors, of)
	}) || slices.ContainsFunc(p.Tables, func(shown plan.Table) bool {
		return shown.From == t.Name && slices.ContainsFunc(p.Query(shown).Factors, of)
	}) || slices.ContainsFunc(p.Models, func(m plan.Model) bool {
		return m.Table == t.Name && slices.ContainsFunc(m.Columns(), of)
	}) || slices.ContainsFunc(p.Release().Impossible, func(e spec.Impossible) bool {
		return e.Table == t.Name && slices.ContainsFunc(e.Where, func(w spec.Condition) bool {
			return is(w.Attribute.String())
		})
	})
}
