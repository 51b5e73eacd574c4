package page

// This file keeps numbers with a negative exponent, such as 1e-9, on one line: browsers break lines after their hyphen.

import "regexp"

// smallNumber matches such a number, and what no number is marked up in: tags with their attributes, and what is drawn,
// quoted or run.
var smallNumber = regexp.MustCompile(`(?s)<(?:head|style|script|pre|text|desc)\b.*?` +
	`</(?:head|style|script|pre|text|desc)>|<[^>]*>|\d[\d.,]*e-\d+`)

// unbroken marks up the numbers of a page that may not be broken. Their characters stay the same, so that a reader can
// copy them.
func unbroken(page []byte) []byte {
	return smallNumber.ReplaceAllFunc(page, func(found []byte) []byte {
		if found[0] == '<' {
			return found
		}
		return append(append([]byte(`<span class="unbroken">`), found...), "</span>"...)
	})
}
