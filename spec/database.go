package spec

import "strings"

// This file holds a source in a database.

// Engine is a program that keeps tables, as a spec writes it.
type Engine string

// The engines whose tables can be read.
const (
	Postgres Engine = "postgres"
	DuckDB   Engine = "duckdb"
	Spark    Engine = "spark"
)

// Database says which rows of a database are those of a table: all rows of Table, the rows of Query, or those of the
// Parquet files that Spark finds at Path.
type Database struct {
	Engine Engine
	// URL says where the address of a PostgreSQL server is, so that no spec holds a password: env:NAME is an
	// environment variable, and file:PATH a file. It is empty for DuckDB, whose file is the only path of the source.
	URL string
	// Table is the name of a table or a view as the engine has it, its schema before it if it has one: one to three
	// parts.
	Table []string
	// Query is a SELECT in the dialect of the engine, in place of Table.
	Query string
	// Path is a path or an address at which Spark reads Parquet files, in place of Table. It is empty for other
	// engines.
	Path string
	// Stay reports whether the rows must be counted where they are. It is always set for Spark, to which nothing here
	// connects.
	Stay bool
}

// String returns the source as messages name it.
func (d *Database) String() string {
	what := "a query"
	switch {
	case d.Table != nil:
		what = "table " + strings.Join(d.Table, ".")
	case d.Path != "":
		what = "Parquet files " + d.Path
	}
	switch d.Engine {
	case DuckDB:
		return what + " in DuckDB"
	case Spark:
		return what + " in Spark"
	}
	return what + " in PostgreSQL (" + d.URL + ")"
}
