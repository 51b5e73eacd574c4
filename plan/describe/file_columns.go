package describe

import (
	"slices"
	"strings"

	"github.com/dprelease/dprelease/spec"
)

// This file holds the columns of files that columns of tables are read from, or made of.

// ofTheFile stands behind the name of a file's column in a loss where the table has another column of that name.
const ofTheFile = " of the file"

// ofFile are the columns of the files that a column is read from or made of: none for one that is derived, and what is
// no column of the table is one of its files.
func ofFile(t *spec.Table, column string) []string {
	if c := t.Column(column); c != nil {
		return c.Inputs()
	}
	return []string{strings.TrimSuffix(column, ofTheFile)}
}

// sameValues tells that two columns of a table are one, or read or are made of the same values of its files.
func sameValues(t *spec.Table, a, b string) bool {
	return a == b || shareAny(ofFile(t, a), ofFile(t, b))
}

// shareAny tells that two lists have a name in common.
func shareAny(a, b []string) bool {
	return slices.ContainsFunc(a, func(name string) bool { return slices.Contains(b, name) })
}
