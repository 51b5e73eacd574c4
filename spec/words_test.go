package spec

import (
	"maps"
	"strings"
	"testing"
)

// The words of a spec have one hash whatever values its parameters have and however a code book is laid out, so that
// a standing approval serves the releases that it is for; a label or a title is another hash.
func TestWordsHashIsOfWhatPeopleRead(t *testing.T) {
	const text = `version: 1
params: {year: {pattern: '20\d\d'}}
release: "trips-${year}"
about: {title: "Trips ${year}"}
privacy: {protects: trip, neighbours: add-remove}
budget: {epsilon: 1}
tables: {t: {source: {csv: t.csv}, unit: row, columns: {x: {codebook: "book-${year}.csv"}}}}
marginals: {m: {by: [x]}}
`
	wordsOf := func(year, book, text string) *Words {
		r, err := Parse(Source{Text: text, Params: map[string]string{"year": year},
			Files: map[string]string{"book-" + year + ".csv": book}})
		if err != nil {
			t.Fatal(err)
		}
		return r.Words
	}
	const book = "code,label\na,Air\nb,Boat\n"
	first := wordsOf("2025", book, text)
	for name, same := range map[string]*Words{
		"another year":     wordsOf("2026", book, text),
		"another layout":   wordsOf("2025", "code,label\r\n\"a\",Air\r\nb,Boat\r\n", text),
		"another comment":  wordsOf("2025", book, "# reviewed\n"+text),
		"another question": wordsOf("2025", book, strings.Replace(text, "epsilon: 1", "epsilon: 2", 1)),
	} {
		if same.Hash() != first.Hash() {
			t.Errorf("%s: other words", name)
		}
	}
	for name, other := range map[string]*Words{
		"a label":  wordsOf("2025", strings.Replace(book, "Air", "Plane", 1), text),
		"a title":  wordsOf("2025", book, strings.Replace(text, "Trips ${year}", "Trips in ${year}", 1)),
		"no label": wordsOf("2025", "code\na\nb\n", text),
	} {
		if other.Hash() == first.Hash() {
			t.Errorf("%s: the same words", name)
		}
	}
}

// Words serve a release only if they have the digest of each of its code books, by which a confidential file with the
// content of a public one is found.
func TestWordsHaveTheDigestsOfCodeBooks(t *testing.T) {
	r, err := releaseOfColumn("{codebook: r.csv}", map[string]string{"r.csv": "code,label\na,Air\n"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.WithWords(r.Words); err != nil {
		t.Error(err)
	}
	without, other := *r.Words, *r.Words
	without.Files = nil
	other.Files = maps.Clone(r.Words.Files)
	other.Files["s.csv"] = other.Files["r.csv"]
	for name, w := range map[string]*Words{"no digest": &without, "that of another file": &other} {
		if _, err := r.WithWords(w); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
