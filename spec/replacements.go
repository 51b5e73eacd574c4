package spec

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/spec/files"
	"github.com/dprelease/dprelease/spec/shape"
)

// This file recognises habits from other programs: what people often write where this language has another form.

// whereHabits maps other names of a condition on rows to what is expected.
func whereHabits(expected string) map[string]shape.Replacement {
	habits := map[string]shape.Replacement{}
	for _, key := range []string{"filter", "filters", "where", "condition", "subset"} {
		habits[key] = shape.Replacement{Expected: expected}
	}
	return habits
}

// fileExpected says where rows can be read from.
const fileExpected = "files on this machine, {parquet: …}, {csv: …} or {arrow: …}, or a table of {postgres: …}, " +
	"{duckdb: …} or {spark: …}: export or download what is elsewhere first"

// sourceHabits maps sources of other programs to what is expected.
func sourceHabits() map[string]shape.Replacement {
	habits := map[string]shape.Replacement{}
	for _, key := range strings.Fields(
		"mysql sqlite sql database table query url http https s3 gs azure excel xlsx json stata spss sas file path") {
		habits[key] = shape.Replacement{Expected: fileExpected, Meant: "parquet"}
	}
	for _, key := range []string{"postgresql", "psql", "pg"} {
		habits[key] = shape.Replacement{Expected: "postgres: {url: env:NAME, table: …}", Meant: "postgres"}
	}
	return habits
}

var address = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*://`)

// sourceOfText says what to write in place of a text that names a source, and the fix where there is one.
func sourceOfText(text string) (expected, fix string) {
	if address.MatchString(text) {
		return fileExpected, ""
	}
	if databaseFile(text) {
		return "the table too: {duckdb: {file: …, table: …}}", ""
	}
	format := strings.TrimPrefix(path.Ext(strings.TrimSuffix(strings.TrimSuffix(text, ".gz"), ".zst")), ".")
	if slices.Contains(files.Formats(), files.Format(format)) {
		fix = "{" + format + ": " + text + "}"
	}
	return "", fix
}
