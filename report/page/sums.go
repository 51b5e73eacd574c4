package page

// This file describes sums along a column: the rows of cumulative tables, and of tables whose neighbouring cells should
// be added up.

import (
	"github.com/dprelease/dprelease/report/internal/words"
	"github.com/dprelease/dprelease/spec/language"
)

// AddedUp returns a sentence each about the rows of cumulative tables and of tables that are made to be summed.
func (r View) AddedUp() []string {
	var cumulative, ranges words.TablesByText
	l := r.In()
	for _, t := range r.Tables {
		if len(t.Cumulative) > 0 {
			cumulative.Add(andText(l, t.Cumulative), t.Path)
		}
		if len(t.Ranges) > 0 {
			ranges.Add(andText(l, t.Ranges), t.Path)
		}
	}
	return append(
		cumulative.Say(func(tables []string, of string) string {
			return l.Text("In %s, each row counts all that have its category of %s or an earlier one. So the rows "+
				"are already added up: do not add them.",
				l.FirstFew(tables), of)
		}),
		ranges.Say(func(tables []string, of string) string {
			return l.Text("In %s, each row counts only its own category. The table is made for sums of neighbours "+
				"along %s, which `dprelease query` adds up with their error.",
				l.FirstFew(tables), of)
		})...)
}

// andText joins names with "and".
func andText(l *language.Language, names []string) string {
	text := names[0]
	for _, name := range names[1:] {
		text = l.Text("%s and %s", text, name)
	}
	return text
}
