package spec

// This file moves words between a release and words.json, and writes the canonical text of a spec.

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/spec/document"
	"github.com/dprelease/dprelease/spec/domain"
	"github.com/dprelease/dprelease/spec/files"
	"github.com/dprelease/dprelease/spec/language"
	"github.com/dprelease/dprelease/spec/shape"
	"gopkg.in/yaml.v3"
)

// WithWords returns the release with these words, nil for none. It returns an error for words of another release: of
// tables, attributes, categories or files that this one does not have, or with parameters that it does not declare.
func (r *Release) WithWords(w *Words) (*Release, error) {
	out := *r
	out.Words, out.About = w, About{}
	if w == nil {
		return &out, nil
	}
	if err := r.checkTitles(w); err != nil {
		return nil, err
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
	for _, path := range slices.Sorted(maps.Keys(r.Source.Files)) {
		if len(r.Source.Digests[path]) == 0 && len(w.Files[path]) == 0 {
			return nil, fmt.Errorf("the words do not have the digest of the file %q", document.Clip(path))
		}
	}
	for _, path := range slices.Sorted(maps.Keys(w.Files)) {
		if _, known := r.Source.Files[path]; !known {
			return nil, fmt.Errorf("the words name the file %q, which the release does not use", document.Clip(path))
		}
	}
	if language.Of(w.About.Language) == nil {
		return nil, fmt.Errorf("the words are in the language %q, expected one of %s", document.Clip(w.About.Language),
			strings.Join(language.Tags(), ", "))
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

// checkTitles returns an error unless the titles of words are of columns, levels, marginals and statistics of the
// release, and units of its columns.
func (r *Release) checkTitles(w *Words) error {
	for _, of := range []map[string]map[string]string{w.Titles, w.MeasuredIn} {
		for _, table := range slices.Sorted(maps.Keys(of)) {
			t := r.Table(table)
			for _, attribute := range slices.Sorted(maps.Keys(of[table])) {
				if t == nil || !t.hasAttribute(attribute) {
					return fmt.Errorf("the words name %q of table %q, which the release does not have",
						document.Clip(attribute),
						document.Clip(table))
				}
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(w.Marginals)) {
		at := slices.IndexFunc(r.Marginals, func(m Marginal) bool { return m.Name == name })
		if at < 0 {
			return fmt.Errorf("the words name the marginal %q, which the release does not have", document.Clip(name))
		}
		for _, stat := range slices.Sorted(maps.Keys(w.Marginals[name].Statistics)) {
			if !slices.ContainsFunc(r.Marginals[at].Stats, func(s Stat) bool { return s.Name == stat }) {
				return fmt.Errorf("the words name the statistic %q of marginal %q, which the release does not have",
					document.Clip(stat), document.Clip(name))
			}
		}
	}
	return nil
}

// hasAttribute reports whether the table has a column, or a level of one, with this name.
func (t *Table) hasAttribute(name string) bool {
	column, level, _ := strings.Cut(name, ".")
	c := t.Column(column)
	if c == nil || level == "" {
		return c != nil
	}
	if c.Domain == nil {
		return false
	}
	_, ok := c.Domain.Level(level)
	return ok
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
func (r *reader) takeWords(root document.Node, digests map[string][]files.Digest) {
	w := &Words{Format: WordsFormat, Files: digests}
	for key, text := range w.About.byKey() {
		*text = root.Get("about").Get(key).Text()
	}
	w.About.Language = root.Get("about").Get("language").Text()
	r.readTexts(root, w)
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
			of := w.Labels[t.Name]
			put(&of, a.String(), labels)
			put(&w.Labels, t.Name, of)
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
	text, err := yaml.Marshal(shape.WithoutWords(grammar(), root))
	if err != nil {
		panic("spec: a document that was read can be written: " + err.Error())
	}
	return string(text)
}
