package spec

import (
	"slices"
	"strings"

	"github.com/dprelease/dprelease/spec/domain"

	"github.com/dprelease/dprelease/spec/expression"
)

// This file holds computed columns: those whose values are made, row by row, of columns of the source.

// Lookup is a column of a public table, looked up by the key of the row.
type Lookup struct {
	// Join is the name of a public table among those that the column's table is joined to.
	Join string
	// Column is a column of it.
	Column string
	// On are the columns of the key, which are read of the source.
	On []string
}

// Inputs are the columns of the source that the column's values are made of: one for a column that is read as it is,
// none for one that another decides.
func (c *Column) Inputs() []string {
	switch {
	case c.Expression != nil:
		return c.Expression.Sources()
	case c.Lookup != nil:
		return c.Lookup.On
	case c.Grid != nil:
		return []string{c.Grid.Longitude, c.Grid.Latitude}
	case c.From != "":
		return []string{c.From}
	}
	return nil
}

// Expression is an expression over the columns of a table's source and of its public tables.
type Expression struct {
	*expression.Expression
	// Categories are those of false and of true where the column has two of its own, nil where it has not.
	Categories []string
	// OnlyTrue says that false counts as null, as in a predicate.
	OnlyTrue bool
	sources  []string
}

// Equal tells that two expressions are the same.
func (e *Expression) Equal(other *Expression) bool {
	return e == other || e != nil && other != nil && e.Text() == other.Text() &&
		slices.Equal(e.Categories, other.Categories) && slices.Equal(e.sources, other.sources)
}

// Sources are the columns of the source that the expression needs, each once: those that it names, and the keys of the
// public tables that it names columns of.
func (e *Expression) Sources() []string { return e.sources }

// Predicate says which rows of a table count: those for which Expression is true. A row for which it is null does not,
// and one that has a value which cannot be read is a matter of Unknown: Refuse or Drop.
type Predicate struct {
	Expression *Expression
	Unknown    Action
}

// Column is the predicate as a column of the one category true: null where it is not true, which drops the row.
func (w *Predicate) Column() *Column {
	e := *w.Expression
	e.OnlyTrue = true
	return &Column{Name: "where", Expression: &e,
		Declaration: domain.Declaration{Type: domain.Boolean,
			Domain: domain.NewTexts(domain.Boolean, []domain.Category{{Code: "true"}})},
		Unknown: Policy{Action: w.Unknown}, Null: Policy{Action: Drop}}
}

// Origin is where the values of a column come from, in the words of the spec.
func (c *Column) Origin() string {
	switch {
	case c.DerivedFrom != nil:
		return c.DerivedFrom.String()
	case c.Expression != nil:
		return strings.TrimSpace(c.Expression.Text())
	case c.Lookup != nil:
		return c.Lookup.Join + "." + c.Lookup.Column
	case c.Grid != nil:
		return c.Grid.Longitude + ", " + c.Grid.Latitude
	}
	return c.From
}
