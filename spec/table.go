package spec

import (
	"github.com/dprelease/dprelease/spec/domain"
	"github.com/dprelease/dprelease/spec/files"
)

// This file holds a table of the release: its files, its unit and its columns.

// Table is one confidential table.
type Table struct {
	Name   string
	Source TableSource
	Unit   Unit
	// Collected is the name of the collection whose reports the table holds, "" for a table of rows. The columns are
	// then those of the questions, and Unit is one respondent.
	Collected string
	Columns   []*Column
	// Linked are columns whose values are in other rows of the same unit. Marginals and other tables cannot use them.
	Linked []*Column
	// Joins are the public tables to which its rows are joined, in spec order.
	Joins []*Join
	// Weight is how many units of the population each row stands for, nil if each row stands for one.
	Weight *Weight
	// Sample selects the units that are measured.
	Sample Sample
	// Where selects the rows that count, nil for all.
	Where *Predicate
	// Expect are the conditions that the table's files must meet, nil if the spec gives none.
	Expect *Expect
}

// Column returns the column of that name, including linked ones, nil if there is none.
func (t *Table) Column(name string) *Column {
	isNamed := func(c *Column) bool { return c.Name == name }
	if c := findFirst(t.Columns, isNamed); c != nil {
		return c
	}
	return findFirst(t.Linked, isNamed)
}

// TableSource says where the rows of a table are: in files, or in a database.
type TableSource struct {
	// Database is where the rows are if they are not in files, nil if they are. If it is set, Format is empty, and
	// Paths has the file of a DuckDB database or nothing.
	Database *Database
	Format   files.Format
	// Paths are paths or globs as written, with parameters filled in. Relative ones start from the data folder.
	Paths []string
	// Delimiter separates the fields of a CSV file; ',' by default.
	Delimiter rune
	// Nulls are the texts of a CSV file that mean null; [""] by default.
	Nulls []string
	// Total reports whether privacy is total. Then a text that is not UTF-8 is treated like any other text outside a
	// domain, and a text that is too long to be read is null. Both are errors otherwise.
	Total bool
}

// Unit is what the release protects within the table. With Row, each row is a unit (ID "", MaxRows 1). Otherwise ID is
// the source column that identifies units, and MaxRows the most rows of a unit that are counted. Null is what happens
// to a row whose ID is null: Refuse or Drop.
type Unit struct {
	Row     bool
	ID      string
	Null    Action
	MaxRows int64
	// Holders is how many holders can have rows of one unit, each at most MaxRows that are counted; 0 if all data are
	// in one place.
	Holders int64
}

// AllRows returns the most rows of a unit that are counted, with all holders together.
func (u Unit) AllRows() int64 { return u.MaxRows * max(1, u.Holders) }

// Expect are the conditions of completeness that a table's files must meet before anything is spent. They apply to the
// rows that count: the rows that `where` keeps and nothing leaves out, before max_rows and a sample.
type Expect struct {
	// Rows is the range of the number of these rows in all files together, nil for any number.
	Rows *RowRange
	// Every are the attributes each of whose declared codes must occur in at least one row. A value that unknown or
	// null counts as a code is that code; the codes that a range adds only for such values need not occur.
	Every []Attribute
}

// RowRange is a closed range of numbers of rows.
type RowRange struct{ Least, Most int64 }

// Column is one column: where its values come from, its domain, and what happens to values outside it.
type Column struct {
	// Name is the column's name in the release, From its name in the source, "" for a derived column.
	Name, From string
	// DerivedFrom is the attribute of the same table that decides the column's category; the domain is the domain of
	// that attribute's level, and the column is not read. It is nil for a column that is read.
	DerivedFrom *Attribute
	// Expression computes the values from other columns, nil for none. From is "" if it is set.
	Expression *Expression
	// Lookup is the column of a public table in which the values are looked up, nil for none. From is "" if it is set,
	// and for the cells of a grid.
	Lookup *Lookup
	// Link says in which other rows of the unit the values are, nil for a column of the row itself. From is "" if it is
	// set.
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

// ExpectedRows returns the middle of the range of expected rows, 0 if the spec gives none.
func (t *Table) ExpectedRows() int64 {
	if t.Expect == nil || t.Expect.Rows == nil {
		return 0
	}
	rows := t.Expect.Rows
	return rows.Least + (rows.Most-rows.Least)/2
}
