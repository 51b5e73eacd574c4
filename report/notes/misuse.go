package notes

// This file says what the figures must not be used for: the box of the first page, with the most important point first,
// and further warnings with the advice on how to read the figures.

import (
	"slices"

	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/internal/words"
)

// Misuse says what the figures must not be used for, the most important point first.
func Misuse(r *report.Report) []string {
	l := r.In()
	some := report.PathsWhere(r.Tables, report.Table.SomeCells)
	return words.NonEmpty(
		words.When(r.Status == report.Practice,
			l.Text("Do not publish these figures, pass them on, or use them: this is practice.")),
		words.When(r.Status == report.Rehearsal,
			l.Text("Do not use these figures for any statement about the world: the data were made up.")),
		tableWarning(r), cellWarning(r),
		words.When(sumsAreTooHigh(r), l.Text("Do not add up the column %s: sums over it are too high. Add up "+
			"%[1]s_unbiased.", r.CountName())),
		l.Text("Do not try to learn anything about a single %s, or link the figures with other data to do so.",
			r.Guarantee.Protects),
		smallNumberWarning(r),
		words.When(report.Weighted(r.Tables),
			l.Text("Do not take the interval of a weighted count, or of a figure next to it, for the confidence "+
				"interval of a survey: it covers only the noise added for privacy, and sampling error comes on top.")),
		words.When(len(r.Figured()) > 0,
			l.Text("Do not quote a mean, a ratio or another figure without its interval, or where its flag says that "+
				"it has none.")),
		words.When(len(some) == 1,
			l.Text("Do not assume that what table %s does not show is empty or small: noise helped decide what is "+
				"shown there.",
				l.FirstFew(some))),
		words.When(len(some) > 1,
			l.Text("Do not assume that what tables %s do not show is empty or small: noise helped decide what is "+
				"shown there.",
				l.FirstFew(some))),
		words.When(len(r.Microdata) > 0,
			l.Text("Do not take a row of microdata for a person or for a row of the data: it belongs to nobody.")),
		words.When(len(r.Models) > 0,
			l.Text("Do not let a model decide about a %s by itself, and do not take a score or a coefficient for the "+
				"effect of a cause.",
				r.Guarantee.Protects)),
	)
}

// hasOneMargin reports whether the margin of the headline bounds that of every count: all have the same unit, and the
// margin covers every table.
func hasOneMargin(r *report.Report) bool {
	sparse := len(report.SparseIn(r.Tables))
	return len(r.Accuracy.Groups) <= 1 && (sparse == 0 || sparse == len(r.Tables)) &&
		!r.AnyStatistic(func(s report.Statistic) bool { return s.Margin > r.Accuracy.Margin })
}

// NotReading says how not to read the figures, in addition to the box.
func NotReading(r *report.Report) []string {
	l := r.In()
	kinds := figureKinds(r.Tables)
	_, withheld, _ := figuresIn(r.Tables)
	figures := words.NonEmpty(
		words.When(!isOfModels(r),
			l.Text("Do not compute a percentage or a rate over a small base without its margin: the base is noisy too.")),
		words.When(!isOfModels(r),
			l.Text("Do not check exact figures published elsewhere against these: a difference from them is not a mistake.")),
		words.When(pluralsOf(l, kinds, isBiased) != nil,
			l.Text("Do not average means, ratios or quantiles over cells: they are not unbiased, and their cells are "+
				"not of one size.")),
		words.When(withheld > 0,
			l.Text("Do not conclude from a withheld figure that its group is small, or from a published one that it "+
				"is not: the noisy count decides.")),
	)
	return slices.Concat(figures, misreadings(l, r.Tables), words.NonEmpty(
		words.When(len(r.Microdata) > 0,
			l.Text("Do not use microdata to study how columns depend on each other if they were not measured "+
				"together: what the rows show there is an assumption of the model.")),
		words.When(len(r.Microdata) > 0,
			l.Text("Do not put a margin, a test or a confidence interval around a figure from microdata: the rows "+
				"are not a sample of the data.")),
		words.When(len(r.Models) > 0,
			l.Text("Do not use a model for other people, or at another time, without testing it there: the rows that "+
				"it was tested on are from the same table.")),
	))
}
