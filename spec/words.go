package spec

// This file holds the words of a release: the texts of its spec and its code books that people read and that decide
// nothing. They are in a file of their own, words.json, so that a text can change without changing the plan.

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

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
	// Titles are the titles of columns and their levels, by table and attribute.
	Titles map[string]map[string]string `json:"titles,omitempty"`
	// MeasuredIn is what the values of columns are measured in, by table and column.
	MeasuredIn map[string]map[string]string `json:"measured_in,omitempty"`
	// Labels are the labels of categories, by table, attribute and code.
	Labels    map[string]map[string]map[string]string `json:"labels,omitempty"`
	Marginals map[string]MarginalWords                `json:"marginals,omitempty"`
	// Files are the digests of public files that contain words, by their paths as in Source.Files.
	Files map[string][]files.Digest `json:"files,omitempty"`
}

// About is what the readers of a release are told about it.
type About struct {
	Title      string `json:"title,omitempty"`
	Population string `json:"population,omitempty"`
	Period     string `json:"period,omitempty"`
	Contact    string `json:"contact,omitempty"`
	Language   string `json:"language,omitempty"` // its tag (BCP 47), "" for English
}

// byKey returns the texts by their keys in a spec.
func (a *About) byKey() map[string]*string {
	return map[string]*string{"title": &a.Title, "population": &a.Population, "period": &a.Period,
		"contact": &a.Contact}
}

// MarginalWords are the title of a marginal, and those of its statistics by their names.
type MarginalWords struct {
	Title      string            `json:"title,omitempty"`
	Statistics map[string]string `json:"statistics,omitempty"`
}

// OfFigure returns what people call a figure by the name of its columns: the title of its statistic, with the share of
// a quantile of several; "" if it has none.
func (m MarginalWords) OfFigure(name string) string {
	if title := m.Statistics[name]; title != "" {
		return title
	}
	if at := strings.LastIndex(name, "_q"); at >= 0 {
		if title := m.Statistics[name[:at]]; title != "" {
			return title + " (" + strings.ReplaceAll(name[at+len("_q"):], "_", ".") + "% quantile)"
		}
	}
	return ""
}

// TableWords are the texts by which people know the columns of a table. Without any, columns have their names.
type TableWords struct {
	titles     map[string]string
	measuredIn map[string]string
	labels     map[string]map[string]string
}

// OfTable returns the texts of a table.
func (w *Words) OfTable(name string) TableWords {
	if w == nil {
		return TableWords{}
	}
	return TableWords{w.Titles[name], w.MeasuredIn[name], w.Labels[name]}
}

// Title returns what people call an attribute: its title, that of its column with the level, or its name.
func (t TableWords) Title(attribute string) string {
	if title := t.titles[attribute]; title != "" {
		return title
	}
	column, level, _ := strings.Cut(attribute, ".")
	if title := t.titles[column]; title != "" {
		return title + " (" + level + ")"
	}
	return attribute
}

// TitlesOf returns what people call attributes.
func (t TableWords) TitlesOf(attributes []string) []string {
	titles := make([]string, len(attributes))
	for i, attribute := range attributes {
		titles[i] = t.Title(attribute)
	}
	return titles
}

// Unit returns what the values of a column are measured in, or what people call the column.
func (t TableWords) Unit(column string) string { return cmp.Or(t.measuredIn[column], t.Title(column)) }

// Labels returns the labels of categories of an attribute; a category without one has its code.
func (t TableWords) Labels(attribute string, codes []string) []string {
	labels := make([]string, len(codes))
	for i, code := range codes {
		labels[i] = cmp.Or(t.labels[attribute][code], code)
	}
	return labels
}

// OfMarginal returns the titles of a marginal.
func (w *Words) OfMarginal(name string) MarginalWords {
	if w == nil {
		return MarginalWords{}
	}
	return w.Marginals[name]
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
		without := *w
		without.Files, w = nil, &without
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
