package spec

import (
	"path"

	"github.com/dprelease/dprelease/spec/shape"
)

// This file holds the grammar of sources in databases as data.

const (
	tableSays     = `a table or view as the database names it, such as register.spells, or "Register"."Spells"`
	querySays     = "a SELECT whose columns are those that this table reads"
	sparkPathSays = "a path or an address without a password at which Spark reads Parquet files, such as " +
		"s3://register/spells"
	urlSays = "where the address postgres://… of the server is, so that no password is in a spec: env:NAME, an " +
		"environment variable, or file:PATH"
	// urlPattern leaves out addresses, which may hold a password.
	urlPattern = `^(env:[A-Za-z_][A-Za-z0-9_]*|file:\S(.*\S)?)$`
)

// databaseFields are the sources in databases.
func databaseFields() []shape.Field {
	rows := []shape.Field{
		{Key: "table", Shape: shape.Text(tableSays).WithParams()},
		{Key: "query", Shape: shape.Text(querySays)},
	}
	stay := shape.Boolean("true, so that the rows are counted in the database and do not leave it, or false")
	postgres := append([]shape.Field{{Key: "url", Shape: shape.Pattern(urlSays, urlPattern), Required: urlSays,
		Fix: "url: env:DATABASE_URL"}, {Key: "stay", Shape: stay}}, rows...)
	duckdb := append([]shape.Field{{Key: "file", Shape: shape.Text("the file of the database").WithParams(),
		Required: "the file of the database", Fix: "file: data/survey.duckdb"},
		{Key: "stay", Shape: shape.Boolean(
			"false: the file is on this machine, so its rows are read and counted here")}}, rows...)
	spark := append([]shape.Field{{Key: "parquet", Shape: shape.Text(sparkPathSays).WithParams()}}, rows...)
	forms := [][]string{{"table"}, {"query"}}
	return []shape.Field{
		{Key: "postgres", Shape: shape.Object("{url: env:NAME, table: …}, or query: in place of table", postgres...).
			WithForms(forms...)},
		{Key: "duckdb", Shape: shape.Object("{file: …, table: …}, or query: in place of table", duckdb...).
			WithForms(forms...)},
		{Key: "spark", Shape: shape.Object("{table: …}, or query: or parquet: in place of table", spark...).
			WithForms(append(forms, []string{"parquet"})...)},
	}
}

// databaseFile reports whether a path looks like the file of a database that can be read.
func databaseFile(text string) bool {
	ending := path.Ext(text)
	return ending == ".duckdb" || ending == ".ddb"
}
