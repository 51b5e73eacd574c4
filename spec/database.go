package spec

import (
	"fmt"
	"path"
	"regexp"
	"strings"

	"github.com/dprelease/dprelease/spec/document"
	"github.com/dprelease/dprelease/spec/shape"
)

// This file holds a source in a database: its grammar and its reading.

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

// tablePart matches one part of the name of a table: in double quotes if it has a dot, a space or a quote.
var tablePart = regexp.MustCompile(`^(?:"((?:[^"]|"")+)"|([^".\s]+))(?:\.|$)`)

const (
	tableSays = `a table or view as the database names it, such as register.spells, or "Register"."Spells"`
	querySays = "a SELECT whose columns are those that this table reads"
	urlSays   = "where the address postgres://… of the server is, so that no password is in a spec: env:NAME, an environment variable, or file:PATH"
	// urlPattern leaves out addresses, which may hold a password.
	urlPattern = `^(env:[A-Za-z_][A-Za-z0-9_]*|file:\S(.*\S)?)$`
)

// databaseFields are the sources in databases.
func databaseFields() []shape.Field {
	rows := []shape.Field{
		{Key: "table", Shape: shape.Text(tableSays).WithParams()},
		{Key: "query", Shape: shape.Text(querySays).WithParams()},
	}
	postgres := append([]shape.Field{{Key: "url", Shape: shape.Pattern(urlSays, urlPattern), Required: urlSays,
		Fix: "url: env:DATABASE_URL"}}, rows...)
	duckdb := append([]shape.Field{{Key: "file", Shape: shape.Text("the file of the database").WithParams(),
		Required: "the file of the database", Fix: "file: data/survey.duckdb"}}, rows...)
	forms := [][]string{{"table"}, {"query"}}
	return []shape.Field{
		{Key: "postgres", Shape: shape.Object("{url: env:NAME, table: …}, or query: in place of table", postgres...).
			WithForms(forms...)},
		{Key: "duckdb", Shape: shape.Object("{file: …, table: …}, or query: in place of table", duckdb...).
			WithForms(forms...)},
		{Key: "spark", Shape: shape.Anything("anything").NotBuilt("spark")},
	}
}

// readDatabase reads a source in a database, nil if the source is files. paths is the file of the database, if it has
// one, and filled reports whether it is known.
func (r *reader) readDatabase(source document.Node) (d *Database, paths []string, filled bool) {
	filled = true
	for _, engine := range []Engine{Postgres, DuckDB} {
		n := source.Get(string(engine))
		if !n.Present() {
			continue
		}
		d = &Database{Engine: engine}
		if file := n.Get("file"); engine == DuckDB && r.IsSound(file) {
			paths, filled = r.fillAll(file)
		}
		if engine == Postgres {
			d.URL = n.Get("url").Text()
		}
		if table := n.Get("table"); table.Present() && r.IsSound(table) {
			d.Table = r.readTableName(table)
		}
		if query := n.Get("query"); query.Present() && r.IsSound(query) {
			d.Query = r.readQuery(query)
		}
	}
	return d, paths, filled
}

// readTableName reads the name of a table of a database.
func (r *reader) readTableName(n document.Node) (parts []string) {
	name, ok := r.params.Fill(n)
	if !ok {
		return nil
	}
	for rest := name; ; {
		m := tablePart.FindStringSubmatch(rest)
		if m == nil || len(parts) == 3 {
			r.AddProblem(n, document.Problem{Message: fmt.Sprintf("%q is no name of a table", document.Clip(name)),
				Expected: tableSays})
			return nil
		}
		part := m[2]
		if part == "" {
			part = strings.ReplaceAll(m[1], `""`, `"`)
		}
		parts = append(parts, part)
		if rest = rest[len(m[0]):]; rest == "" && !strings.HasSuffix(m[0], ".") {
			return parts
		}
	}
}

// readQuery reads a query. Under total privacy it is refused: an expression in it can fail on a value, and stop the
// run.
func (r *reader) readQuery(n document.Node) string {
	query, ok := r.params.Fill(n)
	if !ok {
		return ""
	}
	query = strings.TrimRight(strings.TrimSpace(query), "; \n\t")
	switch {
	case query == "":
		r.AddProblem(n, document.Problem{Message: "an empty query", Expected: querySays})
	case r.release.Privacy.Total:
		r.AddProblem(n, document.Problem{
			Message:  "a query can fail on a value, and privacy is total: no value may stop a run",
			Expected: "table: with the name of a table, or of a view that cannot fail"})
	}
	return query
}

// databaseFile reports whether a path looks like the file of a database that can be read.
func databaseFile(text string) bool {
	ending := path.Ext(text)
	return ending == ".duckdb" || ending == ".ddb"
}
