package notes

// This file advises how to read the figures, and what not to do with them.

import (
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
	l := r.In()
	if len(r.Tables) == 0 {
		return append(slices.Concat(unitNotes(r), sampleNote(l, p), microdataNotes(r), modelNotes(r)),
			report.Note{Heading: l.Text("Noise is not sampling error"),
				Text: l.Text("If the data are a sample, or if people answered wrongly or not at all, these errors " +
					"come on top of the errors of the noise and the model.")})
	}
	s := r.CountName()
	listed := report.TablesWhere(r.Tables, func(t report.Table) bool { return !t.Aside })
	shown := words.Either(isAllFitted(r), l.Text("No %s is below zero.", s),
		l.Text("Column %s shows such a number as 0: here %s of %s.", s,
			budget.Group(report.Total(listed, report.Table.ShownAsZero)), budget.Group(r.Accuracy.Numbers)))
	notes := []report.Note{
		{Heading: l.Text("Every number has an error of its own"),
			Text: words.Either(report.Weighted(r.Tables),
				l.Text("The exact count, or the exact sum of weights where rows count by their weights, lies between "+
					"%[1]s_low and %[1]s_high with a chance of %[2]s. If %[1]s_flag says noise_dominates, the "+
					"interval reaches zero.",
					s, r.Chance()),
				l.Text("The exact count lies between %[1]s_low and %[1]s_high with a chance of %[2]s. If %[1]s_flag "+
					"says noise_dominates, the interval reaches zero.",
					s, r.Chance()))},
		differenceNote(r),
		{Heading: l.Text("Below zero is not a mistake"),
			Text: l.Text("Noise moves a number down as often as up. So %[1]s_unbiased can fall below zero if few or "+
				"none were counted. It is not raised to zero, so that it stays right on average.",
				s) + " " + shown + raisedText(r, s)},
	}
	if anyCounting(r.Tables) {
		notes = append(notes, sumsNote(r, s))
	}
	return slices.Concat(notes, unitNotes(r), figureNotes(r), weightNotes(r, s), sampleNote(l, p), cumulativeNotes(r),
		impossibleNotes(r, p, s), invariantNotes(r, p, s), selectionNotes(r, p, s),
		agreementNotes(r, s, agree, inconsistent), fittedNotes(r, p), microdataNotes(r), modelNotes(r),
		[]report.Note{samplingNote(r), {Heading: l.Text("What the exact count is"), Text: exactCount(r)}})
}

// modelNotes says how to read models.
func modelNotes(r *report.Report) []report.Note {
	if len(r.Models) == 0 {
		return nil
	}
	l := r.In()
	return []report.Note{{Heading: l.Text("A model predicts and does not count"),
		Text: l.Text("A prediction says what rows like one have on average, as far as the noisy answers show it. " +
			"Intervals are for scores, coefficients and tests; a single prediction has none. Where the model was " +
			"fitted to hardly any rows, it says next to nothing, however narrow the band of a score is.")}}
}

// samplingNote says which errors noise does not include.
func samplingNote(r *report.Report) report.Note {
	l := r.In()
	if r.Collection != nil {
		return collectionErrors(l)
	}
	return report.Note{Heading: l.Text("Noise is not sampling error"),
		Text: l.Text("Margins cover the noise added for privacy and nothing else. The error of a sample, and of " +
			"wrong or missing answers, comes on top.")}
}

// microdataNotes say what microdata are for.
func microdataNotes(r *report.Report) []report.Note {
	if len(r.Microdata) == 0 {
		return nil
	}
	l := r.In()
	tables := words.Either(len(r.Tables) > 0,
		l.Text("Where a table has the figure, take it from there: %s.", microdataSums(r)),
		l.Text("No table is published to check it against."))
	return []report.Note{{Heading: l.Text("Microdata are a model's rows"),
		Text: l.Text("They show what such data look like, for trying out a program or an analysis. A figure that you "+
			"count in them is a property of the model, not of the data, and its margin of error is not known (%s).",
			l.Text(report.ModelOnly)) + " " + tables +
			" " + l.Text("Drawing more rows reduces the chance error of the drawing, but does not make the model better.")}}
}

// microdataSums says whether counts in microdata equal those of tables.
func microdataSums(r *report.Report) string {
	l := r.In()
	counted := report.PathsWhere(r.Tables, func(t report.Table) bool {
		s := t.Statistics[0]
		return s.Fitted != nil && s.Fitted.Way == plan.Tabulated
	})
	if counted == nil {
		return l.Text("microdata do not add up to the tables")
	}
	return words.Either(len(counted) < len(r.Tables),
		l.Text("%s_unbiased has what was measured, while the published %[1]s of %s is counted in the microdata; "+
			"microdata do not add up to other tables",
			r.CountName(), l.FirstFew(counted)),
		l.Text("%s_unbiased has what was measured, while the published %[1]s of %s is counted in the microdata",
			r.CountName(), l.FirstFew(counted)))
}

// sumsAreTooHigh reports whether sums over the published counts are too high: some are below zero and shown as 0, and
// counts are not made to add up.
func sumsAreTooHigh(r *report.Report) bool {
	return anyCounting(r.Tables) && !r.FittedSome() &&
		slices.ContainsFunc(r.Tables, func(t report.Table) bool {
			return !t.Aside && t.Cumulative == nil &&
				t.ShownAsZero() > 0
		})
}

// sumsNote says what to add up, and with which error.
func sumsNote(r *report.Report, s string) report.Note {
	l := r.In()
	raised := words.When(sumsAreTooHigh(r),
		l.Text("Because negative numbers are shown as 0, sums over %s are too high.", s))
	switch {
	case isAllFitted(r):
		raised = l.Text("Making counts add up has moved %[1]s: a sum over it is no estimate with an error of its own.",
			s)
	case r.FittedSome():
		raised = l.Text("Because negative numbers are shown as 0, sums over %[1]s are too high, except in tables "+
			"whose counts were made to add up: there %[1]s was moved either way.",
			s)
	}
	n := report.Note{Heading: l.Text("Add up the unbiased column"),
		Text: raised + words.When(raised != "", " ") + l.Text("For sums, averages, differences and models use "+
			"%[1]s_unbiased, with standard error %[1]s_noise_se.", s)}
	counting := report.TablesWhere(r.Tables, func(t report.Table) bool { return t.Cumulative == nil })
	others := len(report.TablesWhere(counting, func(t report.Table) bool { return t.Statistics[0].Reconstructed() }))
	alone := len(counting) - others
	switch {
	case r.Collection != nil:
		n.Text += " " + l.Text("Over n cells of one table a sum has a standard error of at most √n times the largest "+
			"%s_noise_se.", s)
	case others == 0:
		n.Text += " " + l.Text("Over n cells of one table the noise of a sum has standard error √n × %s_noise_se.", s)
	case alone == 0:
		n.Text += " " + l.Text("In tables made from several measurements, cells share noise, so their errors are "+
			"correlated. Take a sum from a table that shows it, or ask `dprelease query`, which gives its error. "+
			"That error is at most the sum of the cells' %s_noise_se.", s)
	default:
		n.Text += " " + l.Text("Over n cells of a table measured by itself, the noise of a sum has standard error √n "+
			"× %s_noise_se.", s) +
			" " + l.Text("In tables made from several measurements, cells share noise, so their errors are "+
			"correlated. Take a sum from a table that shows it, or ask `dprelease query`, which gives its error. "+
			"That error is at most the sum of the cells' %s_noise_se.", s)
	}
	return n
}

// agreementNotes say which tables add up to one another.
func agreementNotes(r *report.Report, s string, agree [][]int, inconsistent []string) []report.Note {
	l := r.In()
	agreeing := l.Text("Once cells are added up, two of these tables give the same number for whatever both contain: " +
		"the total, or the counts of an attribute or of a level. Only floating-point rounding can make a difference.")
	published := words.Either(r.FittedSome(),
		" "+l.Text("This is true of %s_unbiased and, in the tables named under “%[2]s”, also of %[1]s.", s,
			l.Text(report.NoteOnAddingUp)),
		" "+l.Text("This is true of %[1]s_unbiased. Do not add up %[1]s, which is rounded and never negative.",
			s)) +
		words.When(anyCumulative(r.Tables),
			" "+l.Text("In a table that counts up, take the row of the last category instead of adding up."))
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
		sets = append(sets, l.FirstFew(names))
	}
	alone := report.PathsWhere(withNoise(r.Tables), func(t report.Table) bool { return !together[t.Path] })
	switch {
	case len(sets) == 0:
		if alone == nil {
			return nil // all are public figures
		}
		return []report.Note{{Heading: l.Text("Tables do not add up to one another"),
			Text: l.Text("Each table was measured separately, with noise of its own. The same total taken from two "+
				"tables differs, and a table does not sum exactly to a coarser one. Take a figure from the coarsest "+
				"table that has it.") +
				separateText(r, s)}}
	case len(sets) == 1 && len(alone) == 0:
		all := words.Either(publicCells(r.Tables) > 0,
			l.Text("All tables, except tables of public figures, were made from the same noisy answers."),
			l.Text("All tables were made from the same noisy answers."))
		return []report.Note{{Heading: report.NoteAllAgree, Text: all + " " + agreeing + published + but}}
	}
	these := words.Either(len(sets) > 1,
		l.Text("The tables of each of these sets were made from the same noisy answers: %s.", strings.Join(sets, "; ")),
		l.Text("These tables were made from the same noisy answers: %s.", sets[0]))
	if len(sets) > 1 {
		agreeing = l.Text("Once cells are added up, two tables of one set give the same number for whatever both " +
			"contain: the total, or the counts of an attribute or of a level. Only floating-point rounding can make " +
			"a difference.")
	}
	notes := []report.Note{{Heading: report.NoteSomeAgree, Text: these + " " + agreeing + published + but}}
	if len(alone) > 0 {
		separately := words.Either(len(alone) == 1,
			l.Text("The table %s was measured separately, with noise of its own.", l.FirstFew(alone)),
			l.Text("The tables %s were measured separately, each with noise of its own.", l.FirstFew(alone)))
		notes = append(notes, report.Note{Heading: report.NoteOthersDoNot, Text: separately + " " +
			l.Text("A total taken from such a table differs from the same total elsewhere. Take a figure from the "+
				"table that has it with the smallest error.")})
	}
	return notes
}

// inconsistencyText says which tables need not agree although they were made from the same answers: tables with a
// column whose measurements cannot all be reconciled.
func inconsistencyText(r *report.Report, columns []string) string {
	l := r.In()
	var sentences strings.Builder
	for _, column := range columns {
		paths := report.PathsWhere(r.Tables, func(t report.Table) bool {
			return slices.ContainsFunc(t.By, func(by string) bool { return plan.AttributeOf(by).Column == column })
		})
		sentences.WriteString(" " + l.Text("An exception: in some tables the groups of %s do not fit inside one "+
			"another. Counts by %[1]s can differ between these tables: %[2]s.",
			column, l.FirstFew(paths)))
	}
	return sentences.String()
}

// exactCount says what the intervals cover.
func exactCount(r *report.Report) string {
	l, g := r.In(), r.Guarantee
	if r.Collection != nil {
		return collectionCount(l, g)
	}
	counted := l.Text("By these rules, every row is counted.")
	switch {
	case g.ByRow():
	case g.Rows != nil:
		counted = l.Text("By these rules, at most %s are counted for each %s.", countedRows(l, g), g.Protects)
	case g.MaxRows > 1:
		counted = l.Text("By these rules, at most %s of each %s are counted.", countedRows(l, g), g.Protects)
	default:
		counted = l.Text("By these rules, at most one row of each %s is counted.", g.Protects)
	}
	all := words.NonEmpty(
		l.Text("The margins are about the count after the rules of the spec were applied."),
		counted,
		words.When(r.Bounds.OfWeights(), l.Text("Each row counts with its weight, after the weight is bounded.")),
		words.When(r.Bounds != nil && len(r.Bounds.Tables) > 0,
			l.Text("Tables with bounds of their own count no more rows of a unit than those bounds allow.")),
		l.Text("Unknown and missing values are refused, dropped or put into a category, as the spec says."),
		words.When(g.WithoutID != "", l.Text("Rows without an id were left out.")),
		words.When(len(r.Impossible()) > 0, l.Text("Rows that the spec declares impossible are refused or left out.")),
	)
	for _, of := range r.Provenance.Rows {
		all = append(all, l.Text("Of %s, only the rows for which %s is true are counted.", of.Table, of.Where))
	}
	return strings.Join(append(all, l.Text("The margin does not cover what these rules leave out.")), " ")
}
