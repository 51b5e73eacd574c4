package notes

// This file describes invariants: public figures with which published counts agree, and what they reveal.

import (
	"slices"
	"strings"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/describe"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/internal/words"
	"github.com/dprelease/dprelease/spec/language"
)

// invariantSentence says that the guarantee does not cover public figures, "" if there are none.
func invariantSentence(l *language.Language, p *plan.Plan) string {
	return words.When(p.Invariants != nil,
		l.Text("Public figures are shown as they are, and the promise does not cover them: %s. This program read no "+
			"data for them. The promise compares data whether or not they agree with these figures. Whoever counted "+
			"them in the same data gave away what they reveal about any %s.",
			strings.Join(describe.Invariants(l, p.Invariants), "; "), p.Guarantee.Protects))
}

// invariantNotes say which figures are public, where they are published, and what agrees with them.
func invariantNotes(r *report.Report, p *plan.Plan, s string) []report.Note {
	if p.Invariants == nil {
		return nil
	}
	l := r.In()
	var all []string
	for _, i := range p.Invariants {
		all = append(all, l.Text("%s, %s in all", describe.Invariant(l, i), l.Plural(i.Total, "row")))
	}
	text := l.Text("Written in the spec, or in a file that the plan holds, and not read from data: %s.",
		strings.Join(all, "; "))
	if held := report.PathsWhere(r.Tables, func(t report.Table) bool { return t.Invariant != "" }); held != nil {
		text += " " + l.Text("The cells of %s are these figures, or sums of them: %s_flag says invariant, and they "+
			"have no noise and no interval.",
			l.FirstFew(held), s)
	}
	text += words.Either(r.FittedSome(),
		" "+l.Text("The tables under “%s” agree with them in column %s wherever their cells add up to one of them; "+
			"column %[2]s_unbiased need not.",
			l.Text(report.NoteOnAddingUp), s),
		" "+l.Text("No other table was adjusted to agree with them."))
	return []report.Note{{Heading: report.NoteOnPublicFigures,
		Text: text +
			" " + l.Text("Nothing compared them with the data. If they do not describe the same rows, counts that "+
			"agree with them are off by the difference.")}}
}

// invariantBias is the bias of agreeing with figures that may count other rows: one cause for each confidential table.
func invariantBias(r *report.Report, p *plan.Plan) []report.Bias {
	l := r.In()
	var all []report.Bias
	for _, t := range p.Release().Tables {
		var names, tables []string
		for _, i := range p.Invariants {
			if i.Table == t.Name {
				names, tables = append(names, i.Name), append(tables, i.Tables...)
			}
		}
		for _, c := range p.Consistent {
			if c.Table == t.Name {
				tables = slices.Clone(c.Tables)
			}
		}
		if slices.ContainsFunc(p.Synthetic, func(s plan.Synthetic) bool {
			return s.Table == t.Name &&
				s.RowsOf != ""
		}) {
			tables = append(tables, "microdata/"+t.Name)
		}
		if names == nil || tables == nil {
			continue
		}
		all = append(all, report.Bias{
			Cause: l.Text("Counts agree with the public figures of %s. If these describe other rows than the release "+
				"counts (rows that its rules leave out, or rows of another day), or are wrong, the counts are off by "+
				"the difference",
				strings.Join(names, ", ")),
			Tables: tables, Direction: l.Text(eitherWay),
			Size: l.Text("not known, because nothing compares these figures with the data; what was measured for the " +
				"same cells is in measurements/"),
		})
	}
	return all
}

// publicCells returns the number of cells, over all tables, that are public figures or sums of them.
func publicCells(tables []report.Table) int64 {
	held := report.TablesWhere(tables, func(t report.Table) bool { return t.Invariant != "" })
	return report.Total(held, func(t report.Table) int64 { return t.Cells - t.Impossible })
}

// withNoise returns the tables that are not public figures.
func withNoise(tables []report.Table) []report.Table {
	return report.TablesWhere(tables, func(t report.Table) bool { return t.Invariant == "" })
}
