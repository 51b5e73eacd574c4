package source

// This file holds the search for the wanted columns in a file's header.

import (
	"fmt"

	"github.com/dprelease/dprelease/spec"
)

// locate returns for each wanted column its place among the names of a file.
// A name that is missing or stands there twice is an error.
func locate(file string, names, wanted []string) ([]int, error) {
	places := make([]int, len(wanted))
	for i, column := range wanted {
		places[i] = -1
		for j, name := range names {
			switch {
			case name != column:
			case places[i] >= 0:
				return nil, &Error{Kind: Duplicate, File: file, Column: column,
					Message: "the file has two columns of this name; rename one"}
			default:
				places[i] = j
			}
		}
		if places[i] < 0 {
			return nil, &Error{Kind: Missing, File: file, Column: column, Message: "the file has no such column" + suggest(column, names)}
		}
	}
	return places, nil
}

// suggest names the column that was probably meant, if one is near.
func suggest(wanted string, names []string) string {
	if len(names) == 0 {
		return "; it has no columns"
	}
	if near := spec.Nearest(wanted, names); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return ""
}
