package spec

// This file reads derived columns: a level of another column, under a name of its own.

import (
	"fmt"
	"strings"

	"github.com/dprelease/dprelease/spec/domain"

	"github.com/dprelease/dprelease/spec/document"
)

// readDerived reads the attribute that a column is derived from. Its domain is set once all columns of the table are
// read.
func (r *reader) readDerived(n document.Node) *Column {
	column, level, _ := strings.Cut(n.Get("derived_from").Text(), ".")
	for _, key := range []string{"from", "type", "levels", "unknown", "null"} {
		if beside := n.Get(key); beside.Present() {
			r.WrongKey(beside, document.Problem{
				Message: key + " means nothing with derived_from",
				Expected: "derived_from alone: the column is not read, and it has the categories of " +
					document.Clip(n.Get("derived_from").Text()),
			})
		}
	}
	return &Column{Name: n.Key.Value, Declaration: domain.Declaration{Type: domain.Text},
		DerivedFrom: &Attribute{Column: column, Level: level}}
}

// deriveColumns sets the domains of a table's derived columns.
func (r *reader) deriveColumns(t *Table, columns document.Node) {
	for _, n := range r.Entries(columns) {
		from := n.Get("derived_from")
		c := t.Column(n.Key.Value)
		if !r.IsSound(n) || c.DerivedFrom == nil {
			continue
		}
		origin := t.Column(c.DerivedFrom.Column)
		if origin != nil && origin.DerivedFrom != nil {
			p := document.Problem{Message: fmt.Sprintf("%s is derived itself", origin.Name),
				Expected: "the column that is read, at one of its levels"}
			if origin == c {
				p.Message = fmt.Sprintf("%s is derived from itself", c.Name)
			} else if at := *origin.DerivedFrom; c.DerivedFrom.Level == "" {
				p.Fix = "derived_from: " + at.String()
			}
			r.AddProblem(from, p)
			continue
		}
		if !r.checkAttribute(t, from, *c.DerivedFrom, strings.Contains(from.Text(), ".")) || origin.Domain == nil {
			continue
		}
		level, _ := origin.Domain.Level(c.DerivedFrom.Level)
		if r.domains.Spend(n, level.Size(), 0) {
			c.Domain = domain.NewTexts(domain.Text, level.Categories)
		}
	}
}

// checkDecided reports attributes of a marginal that come from the same column.
func (r *reader) checkDecided(t *Table, m *Marginal, n document.Node) {
	first := map[string]Attribute{}
	for _, item := range n.Get("by").Items() {
		column, level, _ := strings.Cut(item.Text(), ".")
		a := Attribute{column, level}
		origin := t.originOf(a)
		before, twice := first[origin.Column]
		if !twice {
			first[origin.Column] = a
			continue
		}
		if before.Column != a.Column && m.Every == nil {
			r.AddProblem(item, t.sameOriginProblem(before, a))
		}
	}
	if len(m.By) < len(n.Get("by").Items()) {
		return // already reported
	}
	for i, size := range m.Every {
		if size > len(first) {
			r.AddProblem(n.Get("every").Items()[i], document.Problem{
				Message: fmt.Sprintf("no table has %d of these attributes: derived columns do not go together with "+
					"what decides them",
					size),
				Expected: fmt.Sprintf("a size from 0 to %d", len(first)),
			})
		}
	}
}
