package describe

import (
	"slices"
	"strings"

	"github.com/dprelease/dprelease/spec"
)

// This file relates the columns of tables to the columns of files that they are read from or made of.

// ofTheFile follows the name of a file's column in a loss, if the table has another column of that name.
const ofTheFile = " of the file"

// fileColumns returns the columns of the files that a column is read from or made of. A derived column has none; a
// name that is no column of the table is a column of its files.
func fileColumns(t *spec.Table, column string) []string {
	if c := t.Column(column); c != nil {
		return c.Inputs()
	}
	return []string{strings.TrimSuffix(column, ofTheFile)}
}

// haveSameValues reports whether two columns of a table are one, or are made of common columns of its files.
func haveSameValues(t *spec.Table, a, b string) bool {
	return a == b || shareAny(fileColumns(t, a), fileColumns(t, b))
}

// shareAny reports whether two lists have a name in common.
func shareAny(a, b []string) bool {
	return slices.ContainsFunc(a, func(name string) bool { return slices.Contains(b, name) })
}
