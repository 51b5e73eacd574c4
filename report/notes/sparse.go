package notes

import (
	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/describe"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/internal/words"
	"github.com/dprelease/dprelease/spec/language"
)

// This file describes tables of the cells above a threshold.

// sparseNote says what a row of a sparse table means, and what it means that a cell has none. s is the name of the
// count's column.
func sparseNote(l *language.Language, t report.Table, planned plan.Table, s string) []report.Note {
	return []report.Note{{Heading: report.NoteOnSparse,
		Text: l.Text("Table %s: %s %s A cell that is not in the table need not be empty: its noisy count was not "+
			"above %s. A cell of more than %s would be in the table with a chance of at least %s. The margins hold "+
			"over all cells, in the table or not. Among those in the table, figures just above %s are too large on "+
			"average, and so is %s_unbiased there. A cell without a row that is in the table because of noise alone "+
			"can have an interval that leaves out 0. Do not add the rows up: cells that are left out are missing.",
			t.Path, describe.Sparse(l, planned.Sparse, planned.Cells-planned.Impossible),
			describe.MissedText(l, planned.Sparse),
			budget.Group(t.Sparse.Above),
			l.Plural(t.Sparse.Bound, "row"), l.Number(words.Level(t.Statistics[0].Confidence)),
			budget.Group(t.Sparse.Above), s)}}
}

// withMargins returns the tables that the headline covers: all if all are sparse, and the others if some are not. A
// sparse table shows the cells that noise has raised, and no margin holds for these cells alone.
func withMargins(tables []report.Table) []report.Table {
	if others := report.TablesWhere(tables, func(t report.Table) bool { return t.Sparse == nil }); others != nil {
		return others
	}
	return tables
}

// sparseSentence is the headline of a release with only sparse tables.
func sparseSentence(l *language.Language, a report.Accuracy, sampled bool) string {
	if a.Numbers == 0 {
		return noCount(l)
	}
	level, margin := l.Number(words.Level(a.Confidence)), budget.Group(describe.WholeMargin(a.Margin))
	if sampled {
		return l.Text("On average, about %s of all cells of the tables, published or not, have a noisy count within "+
			"±%s of the exact one, before response error and any sampling error of the data themselves. The %s cells "+
			"above their threshold are published; those just above it are too large on average.",
			level, margin, budget.Group(a.Numbers))
	}
	return l.Text("On average, at least %s of all cells of the tables, published or not, have a noisy count within "+
		"±%s of the exact one, before sampling and response error. The %s cells above their threshold are published; "+
		"those just above it are too large on average.",
		level, margin, budget.Group(a.Numbers))
}

// sparseBias is the bias in the cells of sparse tables.
func sparseBias(r *report.Report) []report.Bias {
	l := r.In()
	b := report.Bias{Cause: l.Text("Cells are shown if their noisy count is above a threshold, so figures just above " +
		"it are too large on average"),
		Direction: l.Text(tooHigh),
		Size: l.Text("almost none far above the threshold; a cell that is shown and has no row is off by its " +
			"whole figure")}
	b.Tables = report.PathsWhere(r.Tables, func(t report.Table) bool { return t.Sparse != nil })
	if b.Tables == nil {
		return nil
	}
	return []report.Bias{b}
}
