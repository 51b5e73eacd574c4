package spec

import (
	"slices"
	"strings"

	"github.com/dprelease/dprelease/spec/domain"

	"github.com/dprelease/dprelease/spec/expression"
)

// This file holds computed columns, whose values are computed, row by row, from columns of the source.

// Lookup is a column of a public table in which a row's key is looked up.
type Lookup struct {
	// Join is the name of a public table to which the column's table is joined.
	Join string
	// Column is a column of the public table.
	Column string
	// On are the columns of the key, which are read from the source.
	On []string
}

// Inputs returns the columns of the source that the column's values are computed from: one for a column that is read
// unchanged, none for a column that is derived from another.
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
	// Categories are the categories of false and of true if the column names its own two, nil otherwise.
	Categories []string
	// OnlyTrue reports that false counts as null, as in a predicate.
	OnlyTrue bool
	sources  []string
}

// Equal reports whether two expressions are the same.
func (e *Expression) Equal(other *Expression) bool {
	return e == other || e != nil && other != nil && e.Text() == other.Text() &&
		slices.Equal(e.Categories, other.Categories) && slices.Equal(e.sources, other.sources)
}

// Sources returns the columns of the source that the expression needs, each once: the columns that it names, and the
// keys of the public tables whose columns it names.
func (e *Expression) Sources() []string { return e.sources }

// Predicate selects the rows of a table that count: the rows for which Expression is true. A row for which it is null
// does not count. Unknown, which is Refuse or Drop, applies to a row with a value that cannot be read.
type Predicate struct {
	Expression *Expression
	Unknown    Action
}

// Column returns the predicate as a column with the single category true. The column is null where the predicate is not
// true, which drops the row.
func (w *Predicate) Column() *Column {
	e := *w.Expression
	e.OnlyTrue = true
	return &Column{Name: "where", Expression: &e,
		Declaration: domain.Declaration{Type: domain.Boolean,
			Domain: domain.NewTexts(domain.Boolean, []domain.Category{{Code: "true"}})},
		Unknown: Policy{Action: w.Unknown}, Null: Policy{Action: Drop}}
}

// DescribeSource says in the words of the spec where the values of a column come from.
func (c *Column) DescribeSource() string {
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
