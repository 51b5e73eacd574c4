// Package docs holds the glossary: the words of specs, plans, reports and messages, each with what it means.
//
// It owns glossary.md, which it parses; it never explains a word anywhere else. The other pages are for readers alone.
package docs

import (
	_ "embed"
	"regexp"
	"strings"
)

//go:embed glossary.md
var glossary string

// Term is a word of the glossary.
type Term struct {
	Name   string   `json:"name"`           // as its heading has it, such as "Standard error"
	Anchor string   `json:"anchor"`         // of its heading in docs/glossary.md, such as "standard-error"
	Also   []string `json:"also,omitempty"` // other words for it: symbols, keys of a spec, columns
	Text   string   `json:"text"`           // what it means, without markup
}

// Names returns all words for a term, its name first.
func (t Term) Names() []string { return append([]string{t.Name}, t.Also...) }

var (
	heading = regexp.MustCompile(`(?m)^## (.+)$`)
	link    = regexp.MustCompile(`\[([^]]+)\]\([^)]+\)`)
)

// Terms returns all terms of the glossary in alphabetical order.
func Terms() []Term { return parse(glossary) }

// parse returns the terms of a page: each is a heading, a line "Also: …" where it has other words, and paragraphs.
func parse(page string) []Term {
	var terms []Term
	at := heading.FindAllStringSubmatchIndex(page, -1)
	for i, h := range at {
		end := len(page)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		t := Term{Name: page[h[2]:h[3]], Text: strings.TrimSpace(page[h[1]:end])}
		t.Anchor = strings.ReplaceAll(strings.ToLower(t.Name), " ", "-")
		if line, rest, _ := strings.Cut(t.Text, "\n"); strings.HasPrefix(line, "Also: ") {
			t.Also, t.Text = strings.Split(strings.TrimPrefix(line, "Also: "), ", "), strings.TrimSpace(rest)
		}
		t.Text = plain(t.Text)
		terms = append(terms, t)
	}
	return terms
}

// plain returns a text without markup: each paragraph on one line, links as their texts.
func plain(text string) string {
	paragraphs := strings.Split(link.ReplaceAllString(text, "$1"), "\n\n")
	for i, p := range paragraphs {
		paragraphs[i] = strings.NewReplacer("\n", " ", "`", "", "*", "").Replace(p)
	}
	return strings.Join(paragraphs, "\n\n")
}
