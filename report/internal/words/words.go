package words

// This file writes names and lists within a sentence.

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/spec/domain"
)

// Either returns text if holds is true, and otherwise the other text.
func Either(holds bool, text, otherwise string) string {
	if holds {
		return text
	}
	return otherwise
}

// When returns text if holds is true, and otherwise "".
func When(holds bool, text string) string { return Either(holds, text, "") }

// NonEmpty returns the texts that are not empty.
func NonEmpty(texts ...string) []string {
	return slices.DeleteFunc(texts, func(text string) bool { return text == "" })
}

// Capital capitalises the first letter.
func Capital(s string) string {
	for i, r := range s {
		return strings.ToUpper(string(r)) + s[i+len(string(r)):]
	}
	return s
}

// Texts returns values as strings, nil for none.
func Texts[T fmt.Stringer](all []T) (texts []string) {
	for _, one := range all {
		texts = append(texts, one.String())
	}
	return texts
}

// OneRow puts a text of several lines on one line.
func OneRow(s string) string { return strings.Join(strings.Fields(s), " ") }

// Category returns the label of a category, or its code if it has none.
func Category(c domain.Category) string { return cmp.Or(c.Label, c.Code) }

// TablesByText groups tables by what is said about them, in the order in which it was first said.
type TablesByText struct {
	statements []string
	tables     map[string][]string
}

// Add says something about a table.
func (a *TablesByText) Add(says, table string) {
	if a.tables == nil {
		a.tables = map[string][]string{}
	}
	if a.tables[says] == nil {
		a.statements = append(a.statements, says)
	}
	a.tables[says] = append(a.tables[says], table)
}

// Say returns for each statement what say makes of it and its tables.
func (a *TablesByText) Say(say func(tables []string, says string) string) []string {
	var all []string
	for _, says := range a.statements {
		all = append(all, say(a.tables[says], says))
	}
	return all
}
