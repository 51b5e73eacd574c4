package words

// This file holds names and kinds within a sentence.

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/spec/domain"

	"github.com/dprelease/dprelease/budget"
)

// Either is the first text where something holds, else the second.
func Either(holds bool, text, otherwise string) string {
	if holds {
		return text
	}
	return otherwise
}

// When is a text where something holds, else "".
func When(holds bool, text string) string { return Either(holds, text, "") }

// Said are those of some texts that are not empty.
func Said(texts ...string) []string {
	return slices.DeleteFunc(texts, func(text string) bool { return text == "" })
}

func Times(n int64) string { return Either(n == 1, "once", budget.Group(n)+" times") }

// Capital begins a sentence.
func Capital(s string) string {
	for i, r := range s {
		return strings.ToUpper(string(r)) + s[i+len(string(r)):]
	}
	return s
}

// List lists names.
func List(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

// Texts are values as they are written, nil for none.
func Texts[T fmt.Stringer](all []T) (texts []string) {
	for _, one := range all {
		texts = append(texts, one.String())
	}
	return texts
}

// OneRow puts a text of several lines on one.
func OneRow(s string) string { return strings.Join(strings.Fields(s), " ") }

// Category is the label of a category, its code where it has none.
func Category(c domain.Category) string { return cmp.Or(c.Label, c.Code) }

// FirstOf is the first name and how many more there are.
func FirstOf(names []string) string {
	if more := len(names) - 1; more > 0 {
		return fmt.Sprintf("%s and %d more", names[0], more)
	}
	return names[0]
}

// Alike are tables by what is said of them, in the order in which it was said first.
type Alike struct {
	said   []string
	tables map[string][]string
}

// Add says something of a table.
func (a *Alike) Add(says, table string) {
	if a.tables == nil {
		a.tables = map[string][]string{}
	}
	if a.tables[says] == nil {
		a.said = append(a.said, says)
	}
	a.tables[says] = append(a.tables[says], table)
}

// Sentences are what was said, each once, by a format that takes the tables and what is said of them.
func (a *Alike) Sentences(format string) []string {
	var all []string
	for _, says := range a.said {
		all = append(all, fmt.Sprintf(format, Few(a.tables[says]), says))
	}
	return all
}

// mostNamed is how many tables a sentence names.
const mostNamed = 5

// Few lists the first few names, and how many more there are.
func Few(names []string) string {
	list := strings.Join(names[:min(len(names), mostNamed)], ", ")
	if more := len(names) - mostNamed; more > 0 {
		list += " and " + budget.Plural(int64(more), "more table")
	}
	return list
}
