package notes

// This file describes impossible cells, which the spec declares to be exact zeros, and what they reveal.

import (
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/describe"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/internal/words"
	"github.com/dprelease/dprelease/spec/language"
)

// publicSentence says what a release reveals in addition to its noisy figures, "" if nothing.
func publicSentence(l *language.Language, p *plan.Plan) string {
	var rules []string
	for _, i := range describe.Impossibilities(l, p) {
		rules = append(rules, l.Text("no row of %s has %s", i.Table, i.Rule))
	}
	return words.When(rules != nil,
		l.Text("Given away, because the spec declares it and no data were read for it: %s.", strings.Join(rules, "; ")))
}

// impossibleNotes say which cells are impossible, and what happened to rows in them.
func impossibleNotes(r *report.Report, p *plan.Plan, s string) []report.Note {
	l, all := r.In(), describe.Impossibilities(r.In(), p)
	if len(all) == 0 {
		return nil
	}
	var rules []string
	for _, i := range all {
		rules = append(rules, i.Sentence(l))
	}
	text := l.Text("Declared in the spec, not read from data: %s.", strings.Join(rules, "; "))
	var tables []string
	for _, t := range r.Tables {
		if t.Impossible > 0 {
			tables = append(tables, l.Text("%s of %s of %s", budget.Group(t.Impossible), l.Plural(t.Cells, "cell"),
				t.Path))
		}
	}
	if tables != nil {
		text += " " + l.Text("So %s are exact zeros, which %s_flag marks as impossible. They were not measured, have "+
			"no noise and say nothing about the data.",
			l.FirstFew(tables), s)
	}
	return []report.Note{{Heading: report.NoteOnImpossible, Text: text}}
}
