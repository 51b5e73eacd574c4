package spec

// This file checks the keys of public tables before any row is read: whether they match the codes of the columns that
// hold the same values, and each other.

import (
	"slices"
	"strings"

	"github.com/dprelease/dprelease/spec/domain"

	"github.com/dprelease/dprelease/spec/document"
	"github.com/dprelease/dprelease/spec/language"
)

// checkKeys warns of public tables whose keys match few codes of a column, although both are values of the same column
// of the source, and of public tables without a common key that are joined by the same columns.
func (r *reader) checkKeys(t *Table, joins document.Node) {
	for i, j := range t.Joins {
		at := joins.Get(j.Name).Get("on")
		for part, name := range j.On {
			for _, c := range t.Columns {
				if c.Expression == nil && c.Lookup == nil && c.Grid == nil && c.From == name && c.Domain != nil &&
					c.Domain.Declared() > 0 {
					r.checkCodes(at, j, r.keyTexts(j, part), c)
				}
			}
		}
		for _, other := range t.Joins[:i] {
			if slices.Equal(j.On, other.On) && !haveCommonKey(j, other) {
				r.Warn(at.Position(), at.Path,
					document.Problem{Expected: "keys that are written the same way: 7 and 07 are two keys"},
					language.Key("no key of %s is a key of %s, although both are joined by %s: no row finds its key in both"),
					j.Name, other.Name, strings.Join(j.On, ", "))
			}
		}
	}
}

// keyTexts returns the distinct texts in one column of a public table's key, in the order of its rows.
func (r *reader) keyTexts(j *Join, part int) []string {
	p := r.publicTables[j]
	at := slices.Index(p.Header, j.On[part])
	var texts []string
	seen := map[string]bool{}
	for _, fields := range p.Rows {
		if text := fields[at]; !seen[text] {
			seen[text] = true
			texts = append(texts, text)
		}
	}
	return texts
}

// checkCodes warns of a public table whose keys match few codes of a column. A range may well contain more values than
// exist, so one match is enough for it.
func (r *reader) checkCodes(at document.Node, j *Join, keys []string, c *Column) {
	met := map[int]bool{}
	other := "" // the first key that is not a code
	for _, key := range keys {
		if code, fit := c.Domain.CodeOfText(key); fit == domain.Fits && code < c.Domain.Declared() {
			met[code] = true
		} else if other == "" {
			other = key
		}
	}
	codes := c.Domain.Declared()
	if len(met)*2 >= codes || len(met) > 0 && c.Domain.Ranged() {
		return
	}
	text := language.Key("%d of %d codes of %s are keys of the public table %s: rows with the other codes find no " +
		"row in it, and what is looked up for them is null")
	of := []any{len(met), codes, c.Name, j.Name}
	if finest, ok := c.Domain.Level(""); ok && other != "" {
		for code := range codes {
			if !met[code] {
				text = language.Key("%d of %d codes of %s are keys of the public table %s (%q is a code, %q a key): " +
					"rows with the other codes find no row in it, and what is looked up for them is null")
				of = append(of, document.Clip(finest.Categories[code].Code), document.Clip(other))
				break
			}
		}
	}
	r.Warn(at.Position(), at.Path,
		document.Problem{Expected: "codes and keys that are written the same way: 7 and 07 are two texts"}, text, of...)
}

// haveCommonKey reports whether two public tables have a key in common.
func haveCommonKey(a, b *Join) bool {
	for key := range a.rowOfKey {
		if _, ok := b.rowOfKey[key]; ok {
			return true
		}
	}
	return len(a.rowOfKey) == 0 || len(b.rowOfKey) == 0
}
