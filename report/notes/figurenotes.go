package notes

// This file advises on figures other than counts, and on weighted counts.

import (
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan/statistic"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/internal/words"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/language"
)

// unitNotes say that counts of units do not add up.
func unitNotes(r *report.Report) []report.Note {
	tables := report.PathsWhere(r.Tables, func(t report.Table) bool {
		return !t.Aside && spec.CountsUnits(t.Statistics[0].Name)
	})
	if tables == nil {
		return nil
	}
	l := r.In()
	return []report.Note{{Heading: l.Text("Counts of units do not add up"),
		Text: l.Text("In %s a row counts each %s with a row in the cell once: one with rows in several cells is in each of them, as far as the table's bounds let it. The sum over cells is no count of units.",
			l.FirstFew(tables), r.Guarantee.Protects)}}
}

// figureNotes say how to read the figures other than counts.
func figureNotes(r *report.Report) []report.Note {
	figured := r.Figured()
	if len(figured) == 0 {
		return nil
	}
	l, kinds := r.In(), figureKinds(r.Tables)
	_, withheld, unbounded := figuresIn(r.Tables)
	f := figured[0].Figures[0].Name
	notes := []report.Note{{Heading: l.Text("Figures beside counts have intervals of their own"),
		Text: l.Text("Between %[1]s_low and %[1]s_high, beside a figure such as %[1]s, lies the exact figure of the very rows that were counted, as they are bounded: at %[2]s, of privacy noise only. That holds over all cells of a table, those that are withheld or have no interval included; of the published ones alone it may hold less often, as the noise decides which these are. The figure need not lie in the middle. Where %[1]s_flag says unbounded the noise leaves open all that the figure may be, and nothing is published.",
			f, l.Number(words.Level(figured[0].Figures[0].Confidence))) +
			words.When(unbounded > 0, " "+l.Text("In this release that is so of %s.", l.Plural(unbounded, "figure")))}}
	notes = append(notes, dominatedNote(l, figured)...)
	notes = append(notes, unbiasedNote(r, kinds))
	var which []string
	for _, t := range figured {
		if t.Show > 0 {
			which = append(which, l.Text("%s below %s", t.Path, budget.Group(t.Show)))
		}
	}
	if which != nil {
		notes = append(notes, report.Note{Heading: report.NoteOnWithheld,
			Text: withheldText(l, strings.Join(which, ", "), isByWeight(figured), withheld)})
	}
	if r.Bounds.OfValues() {
		notes = append(notes, clampedNote(r))
	}
	drawn, read := quantileWays(figured)
	if drawn {
		notes = append(notes, report.Note{Heading: l.Text("Quantiles are drawn, not worked out"),
			Text: l.Text("A quantile is a value of the column's range, drawn by how near its rank is to the one asked for: it is off in rank, and by how much in the column's own unit depends on how dense values are there. The ends of its interval are drawn too, for ranks further down and up. It has no standard error; in its place the list of figures says by how many rows at most (by how much weight, where rows count by weight) its rank is off at 95%%, as planned. Quantiles of one cell are drawn each by itself, so that by noise alone a higher share can have a lower value.")})
	}
	if read {
		notes = append(notes, report.Note{Heading: l.Text("Quantiles are read from noisy counts"),
			Text: l.Text("Rows are counted, with noise, by bins of the column, and a quantile is where the counts up to there, brought into ascending order, reach its share of all; within a bin it is taken in proportion. All quantiles of a cell are read from the same noisy counts. The interval is of whole bins: of all that the noise does not rule out, so that it is no narrower than the bin it lies in. It holds for each quantile by itself, over all cells, those without an interval included: of cells of few rows, most of which have none, those that do may hold less often, and are better left out (`show`). It has no standard error; in its place the list of figures says by how many rows (by how much weight, where rows count by weight) its rank is off at 95%%, as planned for a column that fills its range evenly.")})
	}
	if pluralsOf(l, kinds, isOfSums) != nil {
		notes = append(notes, report.Note{Heading: l.Text("Figures of one cell are correlated"),
			Text: l.Text("A mean, a sum and a deviation of one column rest on the same noisy integers, and on the count beside them. Do not take them for independent, and do not work a mean out of the sum and the count: the published mean has an interval that reckons with both.")})
	}
	if pluralsOf(l, kinds, statistic.Statistic.OfTotal) != nil {
		notes = append(notes, report.Note{Heading: l.Text("Shares of one total are correlated"),
			Text: l.Text("A share rests on the noisy counts of its cell and of all other cells of its total. Noise that makes one share of a total larger makes others smaller, and the noise of the total moves all of them. Do not take them for independent, and do not work a share out of two counts: the published share has an interval that takes into account the noise that both have in common.")})
	}
	return notes
}

// quantileWays reports whether quantiles of some tables are drawn, and whether some are read from counts.
func quantileWays(tables []report.Table) (drawn, read bool) {
	for _, t := range tables {
		for _, f := range t.Figures {
			drawn, read = drawn || f.Share != "" && f.Bins == 0, read || f.Share != "" && f.Bins > 0
		}
	}
	return drawn, read
}

// withheldText says which figures are withheld, by the thresholds of tables, and how many are.
func withheldText(l *language.Language, thresholds string, byWeight bool, n int64) string {
	text := words.Either(byWeight,
		l.Text("Figures are withheld (null, with the flag withheld) where the noisy count of the cell, the one that is published as unbiased, is below what the spec says: %s. Nothing else decides it: not the exact count, not the figure. So a withheld cell may count more than that by weight, and a published one less.",
			thresholds),
		l.Text("Figures are withheld (null, with the flag withheld) where the noisy count of the cell, the one that is published as unbiased, is below what the spec says: %s. Nothing else decides it: not the exact count, not the figure. So a withheld cell may count more than that, and a published one less.",
			thresholds))
	figures := l.Plural(n, "figure")
	return text + " " + words.Either(n == 1, l.Text("In this release %s was withheld.", figures),
		l.Text("In this release %s were withheld.", figures))
}

// unbiasedNote says which figures are unbiased.
func unbiasedNote(r *report.Report, kinds map[string]bool) report.Note {
	l := r.In()
	yes, no := pluralsOf(l, kinds, statistic.Statistic.Additive), pluralsOf(l, kinds, isBiased)
	text := words.NonEmpty(
		words.When(len(yes) > 0,
			l.Text("%s are unbiased: their mean over the noise is the exact figure, and their column _unbiased is for arithmetic.",
				words.Capital(l.List(yes)))),
		words.When(pluralsOf(l, kinds, statistic.Statistic.IsWhole) != nil,
			l.Text("Do not add counts of units or of values up over cells: a unit or a value can be in several.")),
		words.When(len(no) > 0,
			l.Text("%s are not unbiased, as noise enters them in another way than by being added. Do not add them up or average them over cells: take the figure from a table that has it.",
				words.Capital(l.List(no)))),
		words.When(pluralsOf(l, kinds, isQuotient) != nil,
			l.Text("Where the count of a cell is many times its margin the bias of what is worked out from sums is small beside the standard error; where it is not, go by the interval.")),
	)
	return report.Note{Heading: l.Text("Which figures are unbiased"), Text: strings.Join(text, " ")}
}

// pluralsOf names the statistics among kinds for which holds is true.
func pluralsOf(l *language.Language, kinds map[string]bool, holds func(statistic.Statistic) bool) (names []string) {
	for kind := range spec.StatKind(spec.StatKinds) {
		if of := statistic.Of(kind); kinds[kind.String()] && holds(of) {
			names = append(names, of.Plural(l))
		}
	}
	return names
}

// isBiased reports whether the figures of a statistic are not unbiased.
func isBiased(of statistic.Statistic) bool { return !of.Additive() }

// isOfSums reports whether they are computed from noisy sums.
func isOfSums(of statistic.Statistic) bool { return of.Clamped() && !of.Ranked() }

// isQuotient reports whether they are biased because they are divided by a noisy figure.
func isQuotient(of statistic.Statistic) bool { return isBiased(of) && !of.Ranked() }

// clampedNote says that figures are of bounded rows.
func clampedNote(r *report.Report) report.Note {
	l := r.In()
	return report.Note{Heading: l.Text("Figures are those of bounded rows"),
		Text: l.Text("The exact figure that an interval is about is that of rows as they were bounded.") + " " +
			strings.Join(r.Bounds.Sentences(l), " ") +
			" " + l.Text("What that does to a figure is a bias that no interval holds, and it can be larger than the interval where many values lie beyond the range; how many do, as far as it is known, stands with the bias.")}
}

// dominatedNote says how many of the figures that can be added up are dominated by noise, nothing if there are none.
func dominatedNote(l *language.Language, figured []report.Table) []report.Note {
	name, n := "", int64(0)
	for _, t := range figured {
		for _, f := range t.Figures {
			if n += f.NoiseCells; f.NoiseCells > 0 && name == "" {
				name = f.Name
			}
		}
	}
	if n == 0 {
		return nil
	}
	return []report.Note{{Heading: l.Text("Figures that noise dominates"),
		Text: l.Text("The flag noise_dominates marks %s whose interval reaches zero, or holds nothing that the figure can be by its declared range: noise alone could have made it. For reading, %[2]s has the nearest value that can be (a sum of values that are not negative is shown as 0 at least); %[2]s_unbiased is the estimate, and its interval lies around that.",
			l.Plural(n, "figure"), name)}}
}
