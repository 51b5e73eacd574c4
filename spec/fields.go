package spec

import (
	"unicode/utf8"

	"github.com/dprelease/dprelease/spec/document"
	"github.com/dprelease/dprelease/spec/files"
)

// This file reads how a file of rows is named, and how its fields are written.

// fileOf returns the file, or the files, that a source or a join names, and their format.
func fileOf(n document.Node) (at document.Node, format files.Format) {
	for _, f := range files.Formats() {
		if file := n.Get(string(f)); file.Present() {
			at, format = file, f
		}
	}
	return at, format
}

// readFields reads the delimiter of a CSV file, and the fields that mean null.
func readFields(n document.Node) (delimiter rune, nulls []string) {
	delimiter, _ = utf8.DecodeRuneInString(n.Get("delimiter").TextOr(","))
	if given := n.Get("nulls"); given.Present() {
		return delimiter, given.Texts()
	}
	return delimiter, []string{""}
}

// namesOf returns the names of the elements.
func namesOf[T any](all []T, name func(T) string) (names []string) {
	for _, one := range all {
		names = append(names, name(one))
	}
	return names
}
