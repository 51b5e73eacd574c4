package ledger

// What the budget of an account means, and the syntax of names and sentences in its entries.

import (
	"fmt"
	"regexp"
	"unicode"
	"unicode/utf8"
)

// Terms define what one unit of an account's budget means. Amounts under different terms cannot be added, so an account
// admits a charge only under exactly its own terms.
type Terms struct {
	Protects   string `json:"protects"`   // the protected unit, a noun: "person"
	Neighbours string `json:"neighbours"` // "add-remove" or "replace"
	Definition string `json:"definition"` // "epsilon" (pure) or "rho" (zero-concentrated, perhaps with δ)
}

// The values that Terms.Neighbours and Terms.Definition take.
const (
	AddRemove = "add-remove"
	Replace   = "replace"

	Epsilon = "epsilon"
	Rho     = "rho"
)

// check returns an error for invalid terms.
func (t Terms) check() error {
	switch {
	case !nounPattern.MatchString(t.Protects) || len(t.Protects) > 100:
		return fmt.Errorf("protects is %q; expected a noun such as person, at most 100 bytes of letters and digits",
			t.Protects)
	case t.Neighbours != AddRemove && t.Neighbours != Replace:
		return fmt.Errorf("neighbours is %q; expected %s or %s", t.Neighbours, AddRemove, Replace)
	case t.Definition != Epsilon && t.Definition != Rho:
		return fmt.Errorf("the definition is %q; expected %s or %s", t.Definition, Epsilon, Rho)
	}
	return nil
}

var (
	namePattern = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,99}$`)
	nounPattern = regexp.MustCompile(`^\pL[\pL\pN]*([ '-][\pL\pN]+)*$`)
	hashPattern = regexp.MustCompile(`^[0-9a-f]{64}$`)
)

const nameRule = "at most 100 of a-z, 0-9, '.', '_' and '-', the first a letter or digit"

// maxTextBytes bounds a statement or a reason.
const maxTextBytes = 1000

// isOneLine reports whether text is one line of printable text, not blank and of at most maxTextBytes.
func isOneLine(text string) bool {
	if text == "" || len(text) > maxTextBytes || !utf8.ValidString(text) {
		return false
	}
	blank := true
	for _, r := range text {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return false
		}
		blank = blank && unicode.IsSpace(r)
	}
	return !blank
}
