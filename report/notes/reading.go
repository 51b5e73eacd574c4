package notes

// This file advises how to read the figures, and what not to do with them.

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/internal/words"
)

// Reading says how to read the figures of this release. The tables of one set in agree, given by their indices in the
// plan, agree because they are made from the same measurements. inconsistent names the columns whose measurements
// cannot all be reconciled.
func Reading(r *report.Report, p *plan.Plan, agree [][]int, inconsistent []string) []report.Note {
	if len(r.Tables) == 0 {
		return append(slices.Concat(unitNotes(r), sampleNote(p), microdataNotes(r)),
			report.Note{Heading: samplingNote.Heading,
				Text: "If the data are a sample, or people answered wrongly or not at all, that error comes on top of what noise and the model do."})
	}
	s := r.CountName()
	listed := report.TablesWhere(r.Tables, func(t report.Table) bool { return !t.Aside })
	shown := words.Either(isAllFitted(r), fmt.Sprintf("No %s is below zero.", s),
		fmt.Sprintf("Column %s shows such a number as 0: here %s of %s.", s,
			budget.Group(report.Total(listed, report.Table.ShownAsZero)), budget.Group(r.Accuracy.Numbers)))
	notes := []report.Note{
		{Heading: "Every number has an error of its own",
			Text: fmt.Sprintf("The exact %[3]s lies between %[1]s_low and %[1]s_high with a chance of %[2]s. If %[1]s_flag says noise_dominates, the interval reaches zero.",
				s, r.Chance(), exactName(r))},
		differenceNote(r),
		{Heading: "Below zero is not a mistake",
			Text: fmt.Sprintf("Noise moves a number down as often as up, so %[1]s_unbiased can fall below zero if few or none were counted. That keeps its average right. ",
				s) + shown + raisedText(r, s)},
	}
	if anyCounting(r.Tables) {
		notes = append(notes, sumsNote(r, s))
	}
	return slices.Concat(notes, unitNotes(r), figureNotes(r), weightNotes(r, s), sampleNote(p), cumulativeNotes(r),
		impossibleNotes(r, p, s), invariantNotes(r, p, s), selectionNotes(r, p, s),
		agreementNotes(r, s, agree, inconsistent), fittedNotes(r, p), microdataNotes(r),
		[]report.Note{samplingNote, {Heading: "What the exact count is", Text: exactCount(r)}})
}

// samplingNote says which errors noise does not include.
var samplingNote = report.Note{Heading: "Noise is not sampling error",
	Text: "Margins cover the noise added for privacy and nothing else. The error of a sample, and of wrong or missing answers, comes on top."}

// microdataNotes say what microdata are for.
func microdataNotes(r *report.Report) []report.Note {
	if len(r.Microdata) == 0 {
		return nil
	}
	tables := words.Either(len(r.Tables) > 0,
		"Where a table has the figure, take it from there: "+microdataSums(r)+".",
		"No table is published to check it against.")
	return []report.Note{{Heading: "Microdata are a model's rows",
		Text: "They show what such data look like, for trying out a program or an analysis. What is counted in them is the model's figure, not the data's, and no margin is known for it (" +
			report.ModelOnly + "). " + tables +
			" The more rows are drawn the less chance is in them, but the model gets no better."}}
}

// microdataSums says whether counts in microdata equal those of tables.
func microdataSums(r *report.Report) string {
	counted := report.PathsWhere(r.Tables, func(t report.Table) bool {
		s := t.Statistics[0]
		return s.Fitted != nil && s.Fitted.Way == plan.Tabulated
	})
	if counted == nil {
		return "microdata do not add up to the tables"
	}
	return fmt.Sprintf("what was measured stands in %s_unbiased, while the published %[1]s of %s is counted in the microdata%s",
		r.CountName(), words.FirstFew(counted),
		words.When(len(counted) < len(r.Tables), "; to other tables they do not add up"))
}

// sumsNote says what to add up, and with which error.
func sumsNote(r *report.Report, s string) report.Note {
	raised := fmt.Sprintf("Because negative numbers are shown as 0, sums over %s are too high.", s)
	switch {
	case isAllFitted(r):
		raised = fmt.Sprintf("Making counts add up has moved %[1]s: a sum over it is no estimate with an error of its own.",
			s)
	case r.FittedSome():
		raised = fmt.Sprintf("Showing negative numbers as 0 makes sums over %[1]s too high, but for tables whose counts were made to add up, where %[1]s was moved either way.",
			s)
	}
	n := report.Note{Heading: "Add up the unbiased column",
		Text: raised + fmt.Sprintf(
			" For sums, averages, differences and models use %[1]s_unbiased, with standard error %[1]s_noise_se.", s)}
	counting := report.TablesWhere(r.Tables, func(t report.Table) bool { return t.Cumulative == nil })
	others := len(report.TablesWhere(counting, func(t report.Table) bool { return t.Statistics[0].Reconstructed() }))
	alone := len(counting) - others
	root := fmt.Sprintf("the noise of a sum has standard error √n × %s_noise_se.", s)
	hangs := fmt.Sprintf("the noise of cells is correlated: take a sum from the table that has it as a cell, or from `dprelease query`, which knows its error. It is at most the sum of the cells' %s_noise_se.",
		s)
	switch {
	case others == 0:
		n.Text += " Over n cells of one table " + root
	case alone == 0:
		n.Text += " In tables made from several measurements " + hangs
	default:
		n.Text += " Over n cells of a table measured by itself, " + root +
			" In tables made from several measurements, " + hangs
	}
	return n
}

// agreementNotes say which tables add up to one another.
func agreementNotes(r *report.Report, s string, agree [][]int, inconsistent []string) []report.Note {
	const exactly = "whatever two of them both contain (the total, the counts of an attribute or of a level) is the same once cells are added up, but for rounding in floating point"
	published := words.Either(r.FittedSome(),
		fmt.Sprintf(" That holds for %s_unbiased, and for %[1]s only in the tables named under “%[2]s”.", s,
			report.NoteOnAddingUp),
		fmt.Sprintf(" That holds for %[1]s_unbiased, not for %[1]s, which is rounded and never negative: do not add it up.",
			s)) +
		words.When(anyCumulative(r.Tables),
			" Of a table that counts up take the row of the last category instead of adding up.")
	but := inconsistencyText(r, inconsistent)
	together := map[string]bool{}
	var sets []string
	for _, set := range agree {
		var made []report.Table
		for _, i := range set {
			made = append(made, r.Tables[i])
		}
		names := report.PathsWhere(withNoise(made), func(report.Table) bool { return true })
		if len(names) < 2 {
			continue
		}
		for _, name := range names {
			together[name] = true
		}
		sets = append(sets, words.FirstFew(names))
	}
	alone := report.PathsWhere(withNoise(r.Tables), func(t report.Table) bool { return !together[t.Path] })
	switch {
	case len(sets) == 0:
		if alone == nil {
			return nil // all are public figures
		}
		return []report.Note{{Heading: "Tables do not add up to one another",
			Text: "Each table was measured separately, with noise of its own. The same total taken from two tables differs, and a table does not sum exactly to a coarser one. Take a figure from the coarsest table that has it." +
				separateText(r, s)}}
	case len(sets) == 1 && len(alone) == 0:
		all := "All tables" + words.When(publicCells(r.Tables) > 0, " but those of public figures")
		return []report.Note{{Heading: report.NoteAllAgree, Text: but + all + " were made from the same noisy answers: " +
			exactly + "." + published}}
	}
	notes := []report.Note{{Heading: report.NoteSomeAgree,
		Text: but + "These tables were made from the same noisy answers: " + strings.Join(sets, "; likewise ") +
			words.Either(len(sets) > 1, ". Among those of one such set ", ". Among them ") + exactly + "." + published}}
	if len(alone) > 0 {
		separately := words.Either(len(alone) == 1, "Measured separately, with noise of its own: ",
			"Measured separately, with noise of their own: ")
		notes = append(notes, report.Note{Heading: report.NoteOthersDoNot, Text: separately + words.FirstFew(alone) +
			". A total taken from such a table differs from the same total elsewhere. Take a figure from the table that has it with the smallest error."})
	}
	return notes
}

// inconsistencyText says which tables need not agree although they were made from the same answers: tables with a
// column whose measurements cannot all be reconciled.
func inconsistencyText(r *report.Report, columns []string) string {
	var sentences strings.Builder
	for _, column := range columns {
		paths := report.PathsWhere(r.Tables, func(t report.Table) bool {
			return slices.ContainsFunc(t.By, func(by string) bool { return plan.AttributeOf(by).Column == column })
		})
		fmt.Fprintf(&sentences,
			"Levels of %s were measured that do not fit together: two of %s may agree only in what they have besides %[1]s. ",
			column, words.FirstFew(paths))
	}
	return sentences.String()
}

// exactCount says what the intervals cover.
func exactCount(r *report.Report) string {
	rows := "all rows"
	if !r.Guarantee.ByRow() {
		rows = words.Either(r.Guarantee.Rows != nil, "of "+r.Guarantee.Unit+" at most "+countedRows(r.Guarantee),
			"at most "+budget.Plural(r.Guarantee.MaxRows, "row")+" of "+r.Guarantee.Unit)
	}
	beside := words.When(r.Guarantee.WithoutID != "", ", rows without an id left out") +
		words.When(len(r.Impossible()) > 0, ", and rows that cannot be refused or left out")
	for _, of := range r.Provenance.Rows {
		beside += fmt.Sprintf(", and of %s the rows alone for which %s is true", of.Table, of.Where)
	}
	rows += words.When(r.Bounds.OfWeights(), ", each counting by its weight as that is bounded") +
		words.When(r.Bounds != nil && len(r.Bounds.Tables) > 0, ", in tables with bounds of their own no more than those")
	return "The margins are about the count after the rules of the spec: " + rows +
		", with unknown and missing values refused, dropped or put into a category as the spec says" + beside +
		". The margin does not cover what those rules leave out."
}

// exactName names the exact figure that the interval of a count covers.
func exactName(r *report.Report) string {
	return words.Either(report.Weighted(r.Tables),
		"count, or the exact sum of weights where rows count by their weights,", "count")
}
