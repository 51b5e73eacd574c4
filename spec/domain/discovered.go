package domain

// This file holds the domain whose categories are not listed: a group of them appears in a table only if a selection
// that spends budget lets it through.

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/dprelease/dprelease/spec/document"
)

// MostKey bounds the number of characters of a discovered key.
const MostKey = 1000

// Discover describes how categories are discovered; it is nil if they are listed. A domain of this kind has no
// categories: [Domain.Discovered] returns the same domain with some.
func (d *Domain) Discover() *Discover { return d.discover }

// CompareKeys orders the categories of a domain that lists none: it is negative, 0 or positive as a comes before,
// equals or comes after b. Integers are ordered by value, texts by their bytes.
func (d *Domain) CompareKeys(a, b string) int {
	if d.typ != Integer {
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

// Discovered returns the domain with these categories, which must ascend ([Domain.CompareKeys]) and be distinct.
func (d *Domain) Discovered(keys []string) *Domain {
	if len(keys) == 0 { // one category that no value matches
		none := NewTexts(d.typ, []Category{{}})
		none.discover, none.codeOfText = d.discover, map[string]int{}
		return none
	}
	categories := make([]Category, len(keys))
	for i, k := range keys {
		categories[i].Code = k
	}
	out := NewTexts(d.typ, categories)
	out.discover = d.discover
	return out
}

// CanBeKey reports whether a value, as text, can be a category of a domain that lists none: valid UTF-8 of 1 to
// MaxLength characters, none of them a control character, and in a column of integers an integer in canonical form.
func (d *Domain) CanBeKey(text string) bool {
	if text == "" || int64(len(text)) > utf8.UTFMax*d.discover.MaxLength || !utf8.ValidString(text) ||
		int64(utf8.RuneCountInString(text)) > d.discover.MaxLength {
		return false
	}
	return !strings.ContainsFunc(text, unicode.IsControl) && (d.typ != Integer || IsInteger(text))
}

// MostAlphabet bounds the characters of an alphabet.
const MostAlphabet = 256

// IsAlphabet reports whether a text has characters that texts can be continued by, each once.
func IsAlphabet(text string) bool {
	letters := []rune(text)
	slices.Sort(letters)
	n := len(letters)
	return n > 1 && n <= MostAlphabet && len(slices.Compact(letters)) == n && utf8.ValidString(text) &&
		!strings.ContainsFunc(text, unicode.IsControl)
}

// readDiscover reads a domain whose categories are not listed.
func (r *Reader) readDiscover(c *Declaration, n document.Node) *Domain {
	of := n.Get("values").Get("discover")
	if c.Type != Text && c.Type != Integer {
		r.AddProblem(n.Get("type"), document.Problem{Message: "values of type " + string(c.Type) +
			" are not discovered",
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
			r.AddProblem(as, document.Problem{Message: "a category of its own in a column whose categories are not listed",
				Expected: key + ": error or drop", Fix: key + ": drop"})
			return nil
		}
	}
	if alphabet := of.Get("alphabet"); alphabet.Present() && !IsAlphabet(alphabet.Text()) {
		r.AddProblem(alphabet, document.Problem{Message: "this is not an alphabet: a character is there twice, is a " +
			"control character, or there are too few or too many",
			Expected: fmt.Sprintf("2 to %d characters, each once, none of them a control character", MostAlphabet)})
		return nil
	}
	d := NewTexts(c.Type, nil)
	d.discover = &Discover{MaxLength: of.Get("max_length").WholeNumber(), AtLeast: of.Get("at_least").WholeNumber(),
		Alphabet: of.Get("alphabet").Text()}
	return d
}
