package spec

import (
	"cmp"

	"github.com/dprelease/dprelease/spec/domain"
	"github.com/dprelease/dprelease/spec/files"
)

// This file holds a table of the release: its files, its unit and its columns.

// Table is one confidential table.
type Table struct {
	Name    string
	Source  TableSource
	Unit    Unit
	Columns []*Column
	// Linked are columns of its rows whose values other rows of the same unit have; marginals and the like have none of
	// them.
	Linked []*Column
	// Joins are the public tables that its rows are joined to, in spec order.
	Joins []*Join
	// Weight is how many each row stands for, nil where each is one.
	Weight *Weight
	// Sample draws the units that are measured.
	Sample Sample
	// Where says which rows count, nil for all.
	Where *Predicate
	// Expect is what the table's files must hold, nil where the spec does not say.
	Expect *Expect
}

// Column returns the column of that name, a linked one too, nil if there is none.
func (t *Table) Column(name string) *Column {
	isNamed := func(c *Column) bool { return c.Name == name }
	return cmp.Or(find(t.Columns, isNamed), find(t.Linked, isNamed))
}

// TableSource says where the rows of a table are.
type TableSource struct {
	Format files.Format
	// Paths are paths or globs as written, after parameters; relative ones are relative to
	// the data folder.
	Paths []string
	// Delimiter parts the fields of a CSV file; ',' unless the spec says.
	Delimiter rune
	// Nulls are the texts of a CSV file that mean null; [""] unless the spec says.
	Nulls []string
	// Total reports whether privacy is total: a text that is not UTF-8 is as any other that no domain holds, and one that
	// is too long to be read is null, where both are errors else.
	Total bool
}

// Unit is what the release protects within the table. Row: each row is a unit (ID "",
// MaxRows 1). Else ID is the source column that tells units apart and MaxRows the most rows
// of a unit that are counted. Null is what happens to a row whose ID is null: Refuse or Drop.
type Unit struct {
	Row     bool
	ID      string
	Null    Action
	MaxRows int64
}

// Expect are the rules of completeness that a table's files must meet before anything is spent. They speak of the rows
// that count: those that `where` keeps and nothing leaves out, before max_rows and a sample.
type Expect struct {
	// Rows is the range of their number in all files together, nil for any number.
	Rows *RowRange
	// Every are the attributes each of whose declared codes occurs in at least one of them. A value
	// that unknown or null counts as a code is that code; the codes that a range has for such
	// values alone need not occur.
	Every []Attribute
}

// RowRange is a closed range of numbers of rows.
type RowRange struct{ Least, Most int64 }

// Column is one column: where its values come from, what they may be, and what happens to
// those that are not.
type Column struct {
	// Name is the column's name in the release, From its name in the source, "" for a derived column.
	Name, From string
	// DerivedFrom is the attribute of the same table that decides the column's category: its domain is that level's, and
	// it is not read. nil for a column of its own.
	DerivedFrom *Attribute
	// Expression makes the values of others, nil for none. From is "" beside it.
	Expression *Expression
	// Lookup is the column of a public table that the values are looked up in, nil for none. From is "" beside it, and of
	// the cells of a grid.
	Lookup *Lookup
	// Link is where the values are that other rows of the unit have, nil for a column of the row itself. From is "" beside
	// it.
	Link *Link
	// Declaration is what its values can be. Code books and maps are keys of [Source.Files].
	domain.Declaration
	Unknown, Null Policy
	// Suggest is the leaf of the budget that pays for a suggestion of bounds for the column, "" for none.
	Suggest string
}

// Policy is what happens to a value that is unknown (outside the domain) or null.
type Policy struct {
	Action Action
	// Category is a base code of the column's domain, for As.
	Category int
}

// Action is the verb of a Policy.
type Action int

// Refuse stops the run, Drop leaves the row out, As counts the value as a named category.
const (
	Refuse Action = iota
	Drop
	As
)

// ExpectedRows is the middle of the number of rows that the spec expects of the table; 0 where it expects none.
func (t *Table) ExpectedRows() int64 {
	if t.Expect == nil || t.Expect.Rows == nil {
		return 0
	}
	rows := t.Expect.Rows
	return rows.Least + (rows.Most-rows.Least)/2
}
