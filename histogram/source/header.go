package source

// This file holds the search for the wanted columns in a file's header.

import "fmt"

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

// suggest names the column that is nearest to the wanted one.
func suggest(wanted string, names []string) string {
	best, least := "", -1
	for _, name := range names {
		if d := distance(wanted, name); least < 0 || d < least {
			best, least = name, d
		}
	}
	if least < 0 {
		return "; it has no columns"
	}
	return fmt.Sprintf("; the nearest name it has is %q", best)
}

// distance is the Levenshtein distance of two names in runes.
func distance(a, b string) int {
	from, to := []rune(a), []rune(b)
	row := make([]int, len(to)+1)
	for j := range row {
		row[j] = j
	}
	for i, r := range from {
		diagonal := row[0]
		row[0] = i + 1
		for j, s := range to {
			change := diagonal
			if r != s {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(to)]
}
