package spec

// This file checks the keys of public tables before any row is read: whether they match the codes of the columns that
// hold the same values, and each other.

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/spec/domain"

	"github.com/dprelease/dprelease/spec/document"
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
				r.Warn(at.Position(), at.Path, document.Problem{
					Message: fmt.Sprintf("no key of %s is one of %s, although both are joined by %s: no row finds its key in both",
						j.Name, other.Name, strings.Join(j.On, ", ")),
					Expected: "keys that are written the same way: 7 and 07 are two keys",
				})
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
	how := fmt.Sprintf("%d of %d codes of %s are", len(met), codes, c.Name)
	switch len(met) {
	case 0:
		how = fmt.Sprintf("no code of %s is", c.Name)
	case 1:
		how = fmt.Sprintf("1 of %d codes of %s is", codes, c.Name)
	}
	message := fmt.Sprintf("%s among the keys of the public table %s", how, j.Name)
	if finest, ok := c.Domain.Level(""); ok && other != "" {
		for code := range codes {
			if !met[code] {
				message += fmt.Sprintf(" (%q is not; %q is a key and no code)", document.Clip(finest.Categories[code].Code),
					document.Clip(other))
				break
			}
		}
	}
	r.Warn(at.Position(), at.Path, document.Problem{
		Message:  message + ": rows with the other codes find no row in it, and what is looked up for them is null",
		Expected: "codes and keys that are written the same way: 7 and 07 are two texts",
	})
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
