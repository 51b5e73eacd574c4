package spec

import "strings"

// This file holds a source in a database.

// Engine is a program that keeps tables, as a spec writes it.
type Engine string

// The engines whose tables can be read.
const (
	Postgres Engine = "postgres"
	DuckDB   Engine = "duckdb"
)

// Database says which rows of a database are those of a table: all rows of Table, or the rows of Query.
type Database struct {
	Engine Engine
	// URL says where the address of a PostgreSQL server is, so that no spec holds a password: env:NAME is an environment
	// variable, and file:PATH a file. It is empty for DuckDB, whose file is the only path of the source.
	URL string
	// Table is the name of a table or a view as the engine has it, its schema before it if it has one: one to three
	// parts.
	Table []string
	// Query is a SELECT in the dialect of the engine, in place of Table.
	Query string
	// Stay reports whether the rows must be counted where they are.
	Stay bool
}

// String returns the source as messages name it.
func (d *Database) String() string {
	what := "a query"
	if d.Table != nil {
		what = "table " + strings.Join(d.Table, ".")
	}
	if d.Engine == DuckDB {
		return what + " in DuckDB"
	}
	return what + " in PostgreSQL (" + d.URL + ")"
}
