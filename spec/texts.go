package spec

// This file reads the texts by which people know columns, levels, categories, marginals and statistics.

import (
	"fmt"

	"github.com/dprelease/dprelease/spec/document"
	"github.com/dprelease/dprelease/spec/domain"
)

// readTexts reads the texts below tables and marginals into words, and the labels of categories into their levels.
func (r *reader) readTexts(root document.Node, w *Words) {
	tables, marginals := root.Get("tables"), root.Get("marginals")
	for _, t := range r.release.Tables {
		for _, c := range t.Columns {
			if n := tables.Get(t.Name).Get("columns").Get(c.Name); r.IsSound(n) {
				r.readColumnTexts(w, t, c, n)
			}
		}
	}
	for _, m := range r.release.Marginals {
		n := marginals.Get(m.Name)
		texts := MarginalWords{Title: n.Get("title").Text()}
		for i, stat := range n.Get("stats").Items() {
			if title := stat.Get("title"); title.Present() {
				put(&texts.Statistics, m.Stats[i].Name, title.Text())
			}
		}
		if texts.Title != "" || texts.Statistics != nil {
			put(&w.Marginals, m.Name, texts)
		}
	}
}

// readColumnTexts reads the texts of a column and its levels.
func (r *reader) readColumnTexts(w *Words, t *Table, c *Column, n document.Node) {
	if title := n.Get("title"); title.Present() {
		putBy(&w.Titles, t.Name, c.Name, title.Text())
	}
	if unit := n.Get("measured_in"); unit.Present() {
		putBy(&w.MeasuredIn, t.Name, c.Name, unit.Text())
	}
	if labels := n.Get("labels"); labels.Present() && c.Domain != nil {
		finest, _ := c.Domain.Level("")
		r.readLabels(c, c.Name, finest, labels)
	}
	for _, title := range r.Entries(n.Get("level_titles")) {
		if _, attribute, ok := r.findLevel(c, title); ok {
			putBy(&w.Titles, t.Name, attribute, title.Text())
		}
	}
	for _, labels := range r.Entries(n.Get("level_labels")) {
		if level, attribute, ok := r.findLevel(c, labels); ok {
			r.readLabels(c, attribute, level, labels)
		}
	}
}

// findLevel finds the level of a column that a key names, and its attribute.
func (r *reader) findLevel(c *Column, n document.Node) (*domain.Level, string, bool) {
	if c.Domain == nil {
		return nil, "", false // already reported
	}
	name, levels := n.Key.Value, c.Domain.LevelNames()
	level, ok := c.Domain.Level(name)
	if !ok {
		p := document.Problem{Message: fmt.Sprintf("%s has no level %q", c.Name, document.Clip(name)),
			Expected: "no such key: the column has no levels"}
		if len(levels) > 0 {
			p.Expected = document.OneOf(levels)
		}
		r.AddProblem(n.KeyNode(), r.Among(n.KeyNode(), p, levels))
	}
	return level, Attribute{c.Name, name}.String(), ok
}

// readLabels reads the labels of categories of a level, which take the place of those of a code book.
func (r *reader) readLabels(c *Column, attribute string, level *domain.Level, n document.Node) {
	if level == nil || c.Grid != nil || len(level.Categories) == 0 {
		r.WrongKey(n, document.Problem{Message: fmt.Sprintf("labels for %s, whose categories the spec does not list",
			c.Name),
			Expected: "labels for a level with categories"})
		return
	}
	at := make(map[string]int, len(level.Categories))
	for i, category := range level.Categories {
		at[category.Code] = i
	}
	for _, label := range r.Entries(n) {
		i, ok := at[label.Key.Value]
		if !ok {
			r.AddProblem(label.KeyNode(), domain.NoCategory(r.Findings, label.KeyNode(), attribute, level.Categories))
			continue
		}
		level.Categories[i].Label = label.Text()
	}
}

// put sets an entry of a map that may not exist yet.
func put[V any](m *map[string]V, key string, value V) {
	if *m == nil {
		*m = map[string]V{}
	}
	(*m)[key] = value
}

// putBy sets an entry of a map of maps.
func putBy(m *map[string]map[string]string, outer, inner, value string) {
	one := (*m)[outer]
	put(&one, inner, value)
	put(m, outer, one)
}
