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
	"iter"
	"maps"
	"slices"

	"github.com/dprelease/dprelease/internal/canonical"
	"github.com/dprelease/dprelease/spec/document"
	"github.com/dprelease/dprelease/spec/domain"
	"github.com/dprelease/dprelease/spec/files"
	"github.com/dprelease/dprelease/spec/shape"
	"gopkg.in/yaml.v3"
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

// Bytes returns the canonical words.json.
func (w *Words) Bytes() []byte { return canonical.Must(canonical.Indented(w)) }

// Hash returns the SHA-256 of [Words.Bytes], in hexadecimal.
func (w *Words) Hash() string {
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

// WithWords returns the release with these words, nil for none. It returns an error for words of another release: of
// tables, attributes, categories or files that this one does not have, or with parameters that it does not declare.
func (r *Release) WithWords(w *Words) (*Release, error) {
	out := *r
	out.Words, out.About = w, About{}
	if w == nil {
		return &out, nil
	}
	for _, table := range slices.Sorted(maps.Keys(w.Labels)) {
		t := r.Table(table)
		if t == nil {
			return nil, fmt.Errorf("the words name table %q, which the release does not have", document.Clip(table))
		}
		for _, attribute := range slices.Sorted(maps.Keys(w.Labels[table])) {
			if err := t.checkLabels(attribute, w.Labels[table][attribute]); err != nil {
				return nil, fmt.Errorf("the words of table %s: %w", table, err)
			}
		}
	}
	for _, path := range slices.Sorted(maps.Keys(w.Files)) {
		if _, known := r.Source.Files[path]; !known {
			return nil, fmt.Errorf("the words name the file %q, which the release does not use", document.Clip(path))
		}
	}
	out.About = w.About
	for key, text := range out.About.byKey() {
		filled, err := document.FillText(*text, r.Source.Params)
		if err != nil {
			return nil, fmt.Errorf("the %s of the words: %w", key, err)
		}
		*text = filled
	}
	return &out, nil
}

// checkLabels returns an error unless labels are of categories of an attribute.
func (t *Table) checkLabels(attribute string, labels map[string]string) error {
	for a, level := range t.labelledLevels() {
		if a.String() != attribute {
			continue
		}
		known := make(map[string]bool, level.Size())
		for _, category := range level.Categories {
			known[category.Code] = true
		}
		for _, code := range slices.Sorted(maps.Keys(labels)) {
			if !known[code] {
				return fmt.Errorf("%s has no category %q", attribute, document.Clip(code))
			}
		}
		return nil
	}
	return fmt.Errorf("there is no attribute %q with labels", document.Clip(attribute))
}

// labelledLevels returns the levels of the table's columns whose categories can have labels, by their attributes.
func (t *Table) labelledLevels() iter.Seq2[Attribute, *domain.Level] {
	return func(yield func(Attribute, *domain.Level) bool) {
		for _, c := range slices.Concat(t.Columns, t.Linked) {
			if c.Domain == nil || c.Grid != nil { // whose labels are computed
				continue
			}
			for _, name := range append([]string{""}, c.Domain.LevelNames()...) {
				if level, ok := c.Domain.Level(name); ok && !yield(Attribute{c.Name, name}, level) {
					return
				}
			}
		}
	}
}

// takeWords moves the texts that decide nothing from what was read to the words of the release. digests are those of
// the public files that contain words.
func (r *reader) takeWords(about document.Node, digests map[string][]files.Digest) {
	w := &Words{Format: WordsFormat, Files: digests}
	for key, text := range w.About.byKey() {
		*text = about.Get(key).Text()
	}
	for _, t := range r.release.Tables {
		for a, level := range t.labelledLevels() {
			labels := map[string]string{}
			for _, c := range level.Categories {
				if c.Label != "" {
					labels[c.Code] = c.Label
				}
			}
			if len(labels) == 0 {
				continue
			}
			if w.Labels[t.Name] == nil {
				if w.Labels == nil {
					w.Labels = map[string]map[string]map[string]string{}
				}
				w.Labels[t.Name] = map[string]map[string]string{}
			}
			w.Labels[t.Name][a.String()] = labels
		}
	}
	for _, t := range r.release.Tables { // afterwards, as linked columns share levels
		for _, level := range t.labelledLevels() {
			for i := range level.Categories {
				level.Categories[i].Label = ""
			}
		}
	}
	r.release.Words = w
}

// canonicalText returns the text of a document without comments, layout and words.
func canonicalText(root *yaml.Node) string {
	text, err := yaml.Marshal(shape.WithoutWords(language(), root))
	if err != nil {
		panic("spec: a document that was read can be written: " + err.Error())
	}
	return string(text)
}
