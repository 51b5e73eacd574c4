package spec

// This file holds the domain whose categories nobody lists.

import (
	"cmp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MostKey bounds the characters of a key that is discovered.
const MostKey = 1000

// Discover is what is said of the categories of a domain that are not listed; nil where they are. Such a domain has
// none: [Domain.Discovered] is the same with some.
func (d *Domain) Discover() *Discover { return d.discover }

// CompareKeys is negative, 0 or positive as one category comes before another, of a domain that lists none: integers by
// their size, texts by their bytes.
func (d *Domain) CompareKeys(a, b string) int {
	if d.of != Integer {
		return strings.Compare(a, b)
	}
	below, other := strings.HasPrefix(a, "-"), strings.HasPrefix(b, "-")
	switch {
	case below != other && below:
		return -1
	case below != other:
		return 1
	case below:
		a, b = b, a
	}
	return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
}

// Discovered is the domain with these categories, in ascending order ([Domain.CompareKeys]), each once.
func (d *Domain) Discovered(keys []string) *Domain {
	if len(keys) == 0 { // one that no value is
		none := newTexts(d.of, []Category{{}})
		none.discover, none.texts = d.discover, map[string]int{}
		return none
	}
	categories := make([]Category, len(keys))
	for i, k := range keys {
		categories[i].Code = k
	}
	out := newTexts(d.of, categories)
	out.discover = d.discover
	return out
}

// CanBeKey tells that a value, as text, can be a category of a domain that lists none: valid UTF-8 of 1 to MaxLength
// characters, none of them a control character; in a column of integers digits as integers are written.
func (d *Domain) CanBeKey(text string) bool {
	if text == "" || int64(len(text)) > utf8.UTFMax*d.discover.MaxLength || !utf8.ValidString(text) ||
		int64(utf8.RuneCountInString(text)) > d.discover.MaxLength {
		return false
	}
	return !strings.ContainsFunc(text, unicode.IsControl) && (d.of != Integer || canonicalInteger.MatchString(text))
}

// wholeLength is how many characters every whole number has that fits into 64 bits whatever its digits and sign are.
const wholeLength = 18

// KeyType is the type of a column's categories as keys of published tables. Those that nobody lists are integers where
// all of them would fit into 64 bits, and else texts: what type they have does not depend on which of them are
// selected.
func (c *Column) KeyType() Type {
	if c.Domain != nil && c.Domain.discover != nil && c.Domain.discover.MaxLength > wholeLength {
		return Text
	}
	return c.Type
}

// Discovers are the columns of a table whose categories are not listed, among those that a marginal is by.
func (t *Table) Discovers(by []Attribute) (all []*Column) {
	for _, a := range by {
		if c := t.Column(a.Column); c != nil && c.Domain != nil && c.Domain.discover != nil {
			all = append(all, c)
		}
	}
	return all
}
