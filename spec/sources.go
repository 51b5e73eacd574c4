package spec

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/spec/document"
	"github.com/dprelease/dprelease/spec/files"
)

// This file reads where a table is read from.

// readSource reads where a table is read from, and reports whether all of its paths are known.
func (r *reader) readSource(n document.Node) (TableSource, bool) {
	if !r.IsSound(n) {
		return TableSource{}, false
	}
	s := TableSource{Total: r.release.Privacy.Total}
	filled := false
	if s.Database, s.Paths, filled = r.readDatabase(n); s.Database != nil {
		return s, filled
	}
	paths, format := fileOf(n)
	s.Format = format
	if format == files.CSV {
		s.Delimiter, s.Nulls = readFields(n)
	}
	s.Paths, filled = r.fillAll(paths)
	return s, filled
}

// fillAll returns the paths of a scalar or a list with parameters filled in, and reports whether each parameter has a
// value.
func (r *reader) fillAll(n document.Node) (paths []string, filled bool) {
	filled = true
	for _, item := range n.ItemsOrSelf() {
		path, ok := r.params.Fill(item)
		filled = filled && ok
		switch {
		case ok && strings.TrimSpace(path) == "":
			r.AddProblem(item, document.Problem{Message: "an empty path", Expected: "a path or glob"})
		case ok && address.MatchString(path):
			r.AddProblem(item, document.Problem{Message: "an address and not a file: " + address.FindString(path) + "…",
				Expected: fileExpected})
		case ok && slices.Contains(paths, path):
			r.AddProblem(item, document.Problem{Message: fmt.Sprintf("%q appears twice", document.Clip(path)),
				Expected: "each path once: rows would count twice"})
		}
		paths = append(paths, path)
	}
	return paths, filled
}

// tablePart matches one part of the name of a table: in double quotes if it has a dot, a space or a quote.
var tablePart = regexp.MustCompile(`^(?:"((?:[^"]|"")+)"|([^".\s]+))(?:\.|$)`)

// readDatabase reads a source in a database, nil if the source is files. paths is the file of the database, if it has
// one, and filled reports whether it is known.
func (r *reader) readDatabase(source document.Node) (d *Database, paths []string, filled bool) {
	filled = true
	for _, engine := range []Engine{Postgres, DuckDB, Spark} {
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
		if path := n.Get("parquet"); path.Present() && r.IsSound(path) {
			d.Path, filled = r.readSparkPath(path)
		}
		stay := n.Get("stay")
		if engine == Spark {
			stay = n
		}
		d.Stay = engine == Spark || stay.Is("true")
		switch {
		case engine == DuckDB && d.Stay:
			r.AddProblem(stay, document.Problem{
				Message: "the file of a DuckDB database is on this machine, so no row leaves it and nothing is " +
					"gained by counting in the database",
				Expected: "a source without stay: the rows are read, and counted here"})
		case d.Stay && r.release.Privacy.Total:
			r.AddProblem(stay, document.Problem{
				Message: "a table that is counted in its database can have too many values to be encoded, and " +
					"privacy is total: no value may stop a run",
				Expected: "a source of which the rows are read and counted here: files, or a database without stay: true"})
		}
	}
	return d, paths, filled
}

// addressSecret matches an address with a name and a password before its host.
var addressSecret = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*://[^/@]*:[^/@]*@`)

// readSparkPath reads the path of Parquet files that Spark reads, and reports whether it is known. A password has no
// place in it: everybody who sees the plan sees the path.
func (r *reader) readSparkPath(n document.Node) (path string, filled bool) {
	path, filled = r.params.Fill(n)
	switch {
	case !filled:
		return "", false
	case strings.TrimSpace(path) == "":
		r.AddProblem(n, document.Problem{Message: "an empty path", Expected: sparkPathSays})
	case addressSecret.MatchString(path):
		r.AddProblem(n, document.Problem{Message: "an address with a password", Expected: sparkPathSays})
	}
	return path, true
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
	query := strings.TrimRight(strings.TrimSpace(n.Text()), "; \n\t")
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
