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
		Text: l.Text("In %s, each cell counts every %s that has a row in it, once. A unit with rows in several cells "+
			"is counted in each of them, within the table's bounds. So the sum over cells is not the number of units.",
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
	reach := l.Text("The interval of a figure such as %[1]s reaches from %[1]s_low to %[1]s_high. With %[2]s "+
		"confidence it contains the exact figure of the rows that were counted, after their values were bounded. It "+
		"covers privacy noise only. The %[2]s is the chance for each cell, before noise has decided which figures "+
		"are withheld or have no interval. Among the published figures alone the share may be lower. The figure need "+
		"not be in the middle of its interval. If %[1]s_flag says unbounded, the noise is so large that it rules out "+
		"no possible value, and nothing is published.",
		f, l.Number(words.Level(figured[0].Figures[0].Confidence)))
	if r.Collection != nil {
		reach = l.Text("The interval of a figure such as %[1]s reaches from %[1]s_low to %[1]s_high. It covers the "+
			"randomisation on the devices, which round a number up or down at random first, and the draw of who "+
			"answers which question. It uses a normal approximation, so that its %[2]s is approximate, unlike that "+
			"of a count. Among the published figures alone the share may be lower. If %[1]s_flag says unbounded, the "+
			"interval would be all of the range, and nothing is published.",
			f, l.Number(words.Level(figured[0].Figures[0].Confidence)))
	}
	notes := []report.Note{{Heading: l.Text("Figures other than counts have intervals of their own"),
		Text: reach + words.When(unbounded > 0,
			" "+l.Text("In this release this concerns %s.", l.Plural(unbounded, "figure")))}}
	notes = append(notes, dominatedNote(l, figured)...)
	notes = append(notes, unbiasedNote(r, kinds))
	var which []string
	for _, t := range figured {
		if t.Show > 0 {
			which = append(which, l.Text("%s in %s", budget.Group(t.Show), t.Path))
		}
	}
	if which != nil {
		notes = append(notes, report.Note{Heading: report.NoteOnWithheld,
			Text: withheldText(l, l.List(which), isByWeight(figured), withheld)})
	}
	if r.Bounds.OfValues() {
		notes = append(notes, clampedNote(r))
	}
	drawn, read := quantileWays(l, figured)
	mixed := drawn != nil && read != nil
	if drawn != nil {
		notes = append(notes, report.Note{
			Heading: words.Either(mixed, l.Text("Some quantiles are drawn"), l.Text("Quantiles are drawn")),
			Text: words.When(mixed, theseText(l, drawn)+" ") +
				l.Text("A quantile that is drawn is a value of the column's range. The nearer the rank of a value is "+
					"to the requested rank, the likelier it is drawn. So the error of the quantile is an error of "+
					"rank; how large it is in the unit of the column depends on how densely the values lie there. "+
					"The ends of the interval are drawn too, for lower and higher ranks. Such a quantile has no "+
					"standard error. Instead, the list of figures gives the largest error of its rank at 95%%, as "+
					"planned: in rows, or in weight where rows count by weight. The quantiles of a cell are drawn "+
					"separately, so noise alone can make, for example, the 75%% quantile smaller than the "+
					"25%% quantile.")})
	}
	if read != nil {
		notes = append(notes, report.Note{
			Heading: words.Either(mixed, l.Text("The other quantiles are read from noisy counts"),
				l.Text("Quantiles are read from noisy counts")),
			Text: words.When(mixed, theseText(l, read)+" ") +
				l.Text("Rows are counted, with noise, by bins of the column. A quantile is the value at which the "+
					"cumulative noisy count, made non-decreasing, reaches the quantile's share of the total; within "+
					"a bin it is interpolated. All quantiles of a cell are read from the same noisy counts. The "+
					"interval consists of all bins that the noise does not rule out, so it is never narrower than "+
					"the bin in which the quantile lies. It holds for each quantile separately, over all cells, "+
					"including those without an interval. Most cells with few rows have no interval. Where such a "+
					"small cell has one, it may contain the exact quantile less often than 95%%: do not rely on it. "+
					"(`show` in the spec withholds quantiles of small cells.) A quantile that is read from counts "+
					"has no standard error. Instead, the list of figures gives the error of its rank at 95%%, as "+
					"planned for a column that fills its range evenly: in rows, or in weight where rows count by weight.")})
	}
	if pluralsOf(l, kinds, isOfSums) != nil {
		notes = append(notes, report.Note{Heading: l.Text("Figures of one cell are correlated"),
			Text: l.Text("A mean, a sum and a deviation of one column are computed from the same noisy integers, and " +
				"from the noisy count of the cell. Do not take them for independent, and do not compute a mean from " +
				"the sum and the count: the interval of the published mean takes the noise of both into account.")})
	}
	if pluralsOf(l, kinds, statistic.Statistic.OfTotal) != nil {
		notes = append(notes, report.Note{Heading: l.Text("Shares of one total are correlated"),
			Text: l.Text("A share is computed from the noisy counts of its cell and of all other cells of its total. " +
				"Noise that makes one share of a total larger makes others smaller, and the noise of the total moves " +
				"all of them. Do not take them for independent, and do not compute a share from two counts: the " +
				"interval of the published share takes into account the noise that both have in common.")})
	}
	return notes
}

// quantileWays names the quantiles that are drawn, and those that are read from counts, each with its table.
func quantileWays(l *language.Language, tables []report.Table) (drawn, read []string) {
	for _, t := range tables {
		for _, f := range t.Figures {
			switch name := l.Text("%s in %s", f.Name, t.Path); {
			case f.Share == "":
			case f.Bins == 0:
				drawn = append(drawn, name)
			default:
				read = append(read, name)
			}
		}
	}
	return drawn, read
}

// mostQuantiles is the largest number of quantiles that a note names.
const mostQuantiles = 5

// theseText says which quantiles a note is about: the first few, and the number of others.
func theseText(l *language.Language, names []string) string {
	if len(names) == 1 {
		return l.Text("In this release this is %s.", names[0])
	}
	list := l.List(names)
	if more := len(names) - mostQuantiles; more > 0 {
		list = l.Text("%s and %s more", strings.Join(names[:mostQuantiles], ", "), budget.Group(int64(more)))
	}
	return l.Text("In this release these are %s.", list)
}

// withheldText says which figures are withheld, by the thresholds of tables, and how many are.
func withheldText(l *language.Language, thresholds string, byWeight bool, n int64) string {
	text := words.Either(byWeight,
		l.Text("A figure is withheld (null, with the flag withheld) if the unbiased noisy count of its cell is below "+
			"the limit in the spec. The limit is a count of %s. Nothing else decides this: neither the exact count "+
			"nor the figure. So a withheld cell may count more than the limit by weight, and a published one less.",
			thresholds),
		l.Text("A figure is withheld (null, with the flag withheld) if the unbiased noisy count of its cell is below "+
			"the limit in the spec. The limit is a count of %s. Nothing else decides this: neither the exact count "+
			"nor the figure. So a withheld cell may count more than the limit, and a published one less.",
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
			l.Text("%s are unbiased: on average over the noise they equal the exact figure. Use their column "+
				"_unbiased for arithmetic.",
				words.Capital(l.List(yes)))),
		words.When(pluralsOf(l, kinds, statistic.Statistic.IsWhole) != nil,
			l.Text("Do not add up counts of units or of values over cells: a unit or a value can be in several cells.")),
		words.When(len(no) > 0,
			l.Text("%s are not unbiased, because noise is not simply added to them. Do not add them up or average "+
				"them over cells: take the figure from a table that has it.",
				words.Capital(l.List(no)))),
		words.When(pluralsOf(l, kinds, isQuotient) != nil,
			l.Text("Where the count of a cell is many times its margin, the bias of what is computed from sums and "+
				"counts is small compared with the standard error. Elsewhere, go by the interval.")),
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
	return report.Note{Heading: l.Text("Figures are computed from bounded rows"),
		Text: l.Text("An interval is about the exact figure of the rows after they were bounded.") + " " +
			strings.Join(r.Bounds.Sentences(l), " ") +
			" " + l.Text("This bounding causes a bias that no interval includes. Where many values are outside the "+
			"range, the bias can be larger than the interval. The section “Bias” says how many are, as far as that is known.")}
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
		Text: l.Text("The flag noise_dominates marks %[1]s other than counts; the list %[3]s has their cells. The "+
			"interval of each reaches zero, or contains no value that the declared range allows: noise alone could "+
			"have produced such a figure. The column %[2]s shows the nearest possible value: a sum of non-negative "+
			"values, for example, is never shown below 0. The column %[2]s_unbiased has the estimate, and the "+
			"interval lies around it.",
			l.Plural(n, "figure"), name, l.Text(ZeroSection))}}
}
