package docs

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	page := `# Glossary

An introduction.

## Privacy loss

Also: ε, loss

How much *one* unit
changes, see [unit](#unit).

By a factor.

## Unit

What is protected.
`
	want := []Term{
		{Name: "Privacy loss", Anchor: "privacy-loss", Also: []string{"ε", "loss"},
			Text: "How much one unit changes, see unit.\n\nBy a factor."},
		{Name: "Unit", Anchor: "unit", Text: "What is protected."},
	}
	if diff := cmp.Diff(want, parse(page)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// anchored matches the anchors that every reader of Markdown makes of a heading in the same way.
var anchored = regexp.MustCompile(`^[a-z]+(-[a-z]+)*$`)

// TestGlossary checks what readers of the page rely on: alphabetical order, each word once, and a text of a few
// sentences for each.
func TestGlossary(t *testing.T) {
	terms := Terms()
	if len(terms) < 60 {
		t.Fatalf("%d terms", len(terms))
	}
	words := map[string]string{}
	for i, term := range terms {
		if i > 0 && strings.ToLower(terms[i-1].Name) >= strings.ToLower(term.Name) {
			t.Errorf("%s stands behind %s", term.Name, terms[i-1].Name)
		}
		if !anchored.MatchString(term.Anchor) {
			t.Errorf("%s has the anchor %q, and links by it may lead nowhere", term.Name, term.Anchor)
		}
		for _, word := range term.Names() {
			if other, twice := words[strings.ToLower(word)]; twice {
				t.Errorf("%q stands for %s and %s", word, other, term.Name)
			}
			words[strings.ToLower(word)] = term.Name
		}
		sentences := strings.Count(term.Text+" ", ". ")
		if sentences < 1 || sentences > 6 || !strings.HasSuffix(term.Text, ".") {
			t.Errorf("%s has %d sentences: %s", term.Name, sentences, term.Text)
		}
		if strings.ContainsAny(term.Text, "`*[]#") || slices.ContainsFunc(term.Also, func(a string) bool {
			return strings.TrimSpace(a) != a || a == ""
		}) {
			t.Errorf("%s keeps markup: %s", term.Name, term.Text)
		}
	}
}
