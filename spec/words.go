package spec

// This file holds the words of a release: the texts of its spec and its code books that people read and that decide
// nothing. They are in a file of their own, words.json, so that a text can change without changing the plan.

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/dprelease/dprelease/internal/canonical"
	"github.com/dprelease/dprelease/spec/domain"
	"github.com/dprelease/dprelease/spec/files"
)

// WordsFormat names the layout of words.json.
const WordsFormat = "dprelease.words/1"

// Words are the texts of a release that people read. Plan, noise and debit do not depend on them.
type Words struct {
	Format string `json:"format"`
	// About is as the spec has it, with ${…} for parameters, so that the words of a standing approval stay the same.
	About About `json:"about,omitzero"`
	// Labels are the labels of categories, by table, attribute and code.
	Labels map[string]map[string]map[string]string `json:"labels,omitempty"`
	// Files are the digests of public files that contain words, by their paths as in Source.Files.
	Files map[string][]files.Digest `json:"files,omitempty"`
}

// About is what the readers of a release are told about it.
type About struct {
	Title      string `json:"title,omitempty"`
	Population string `json:"population,omitempty"`
	Period     string `json:"period,omitempty"`
	Contact    string `json:"contact,omitempty"`
}

// byKey returns the texts by their keys in a spec.
func (a *About) byKey() map[string]*string {
	return map[string]*string{"title": &a.Title, "population": &a.Population, "period": &a.Period, "contact": &a.Contact}
}

// Labelled returns a level of a table's attribute with the labels of its categories, the level itself if it has none.
func (w *Words) Labelled(table, attribute string, l *domain.Level) *domain.Level {
	if w == nil || w.Labels[table][attribute] == nil {
		return l
	}
	labels, out := w.Labels[table][attribute], *l
	out.Categories = slices.Clone(l.Categories)
	for i, c := range out.Categories {
		out.Categories[i].Label = labels[c.Code]
	}
	return &out
}

// FileDigests returns the digests of a public file that contains words, by its path as in Source.Files.
func (w *Words) FileDigests(path string) []files.Digest {
	if w == nil {
		return nil
	}
	return w.Files[path]
}

// Bytes returns the canonical words.json.
func (w *Words) Bytes() []byte { return canonical.Must(canonical.Indented(w)) }

// Hash returns the SHA-256, in hexadecimal, of the canonical words.json without the digests of files, which change with
// the layout of a file and whose paths can have parameters in them.
func (w *Words) Hash() string {
	if w != nil {
		w = &Words{Format: w.Format, About: w.About, Labels: w.Labels}
	}
	sum := sha256.Sum256(w.Bytes())
	return hex.EncodeToString(sum[:])
}

// ReadWords decodes a words.json. It returns an error for bytes that are not the canonical form of words.
func ReadWords(b []byte) (*Words, error) {
	w := &Words{}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(w); err != nil {
		return nil, fmt.Errorf("not the words of a release: %w", err)
	}
	if w.Format != WordsFormat {
		return nil, fmt.Errorf("the format of the words is %q, expected %q", w.Format, WordsFormat)
	}
	if !bytes.Equal(w.Bytes(), b) {
		return nil, errors.New("the words were edited by hand: `dprelease plan` writes them from the spec")
	}
	return w, nil
}
