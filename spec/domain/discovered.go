package domain

// This file holds the domain whose categories nobody lists: groups of them appear in a table only where a paid
// selection lets them through.

import (
	"cmp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/dprelease/dprelease/spec/document"
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
		none := NewTexts(d.of, []Category{{}})
		none.discover, none.texts = d.discover, map[string]int{}
		return none
	}
	categories := make([]Category, len(keys))
	for i, k := range keys {
		categories[i].Code = k
	}
	out := NewTexts(d.of, categories)
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
	return !strings.ContainsFunc(text, unicode.IsControl) && (d.of != Integer || IsInteger(text))
}

// readDiscover reads a domain without categories.
func (r *Reader) readDiscover(c *Declaration, n document.Node) *Domain {
	of := n.Get("values").Get("discover")
	if c.Type != Text && c.Type != Integer {
		r.Wrong(n.Get("type"), document.Problem{Message: "values of type " + string(c.Type) + " are not discovered",
			Expected: "text or integer"})
		return nil
	}
	if levels := n.Get("levels"); levels.Present() {
		r.WrongKey(levels, document.Problem{Message: "levels of categories that nobody lists",
			Expected: "no levels, or a list of the values"})
		return nil
	}
	for _, key := range []string{"unknown", "null"} {
		if as := n.Get(key).Get("as"); as.Present() {
			r.Wrong(as, document.Problem{Message: "a category of its own in a column whose categories are not listed",
				Expected: key + ": error or drop", Fix: key + ": drop"})
			return nil
		}
	}
	d := NewTexts(c.Type, nil)
	d.discover = &Discover{MaxLength: of.Get("max_length").Whole(), AtLeast: of.Get("at_least").Whole()}
	return d
}
