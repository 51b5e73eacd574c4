package notes

// This file holds what the figures must not be used for: the box of the first page, with what matters most first, and
// the further warnings, which stand where it is said how to read the figures.

import (
	"fmt"
	"slices"

	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/internal/words"
	"github.com/dprelease/dprelease/spec"
)

// Misuse says what the figures must not be used for, what matters most first.
func Misuse(r *report.Report) []string {
	var uses []string
	switch r.Status {
	case report.Practice:
		uses = append(uses, "Do not use them outside the team that made them: this is practice, not a release.")
	case report.Rehearsal:
		uses = append(uses, "Do not use them for any statement about the world: the data were made up.")
	}
	for _, use := range []string{tableUse(r), cellUse(r), sameUse(r), "Do not try to find out anything about a single " +
		r.Guarantee.Protects + ", or join with other data for that purpose.", smallNumber(r)} {
		if use != "" {
			uses = append(uses, use)
		}
	}
	if report.Weighted(r.Tables) {
		uses = append(uses, "Do not take the interval of a weighted count, or of a figure beside it, for the confidence interval of a survey: it holds the noise for privacy alone, and the sampling error comes on top.")
	}
	if len(r.Figured()) > 0 {
		uses = append(uses, "Do not quote a mean, a ratio or another figure without its interval, or where its flag says that it has none.")
	}
	if some := partial(r.Tables); some != nil {
		uses = append(uses, fmt.Sprintf(
			"Do not take what %s not have for empty or small: noise had a part in what is shown there.", doNames(some)))
	}
	if len(r.Microdata) > 0 {
		uses = append(uses, "Do not take a row of microdata for somebody, or for a row of the data: no row is anybody's.")
	}
	return uses
}

// oneBound tells that the margin of the headline bounds that of every count: it is of all of one unit, and of every
// table.
func oneBound(r *report.Report) bool {
	sparse := len(report.SparseIn(r.Tables))
	return len(r.Accuracy.Groups) <= 1 && (sparse == 0 || sparse == len(r.Tables)) &&
		!r.AnyStatistic(func(s report.Statistic) bool { return s.Margin > r.Accuracy.Margin })
}

// partial are the paths of the tables of which cells are missing: those above a threshold, chosen or let through alone
// are there.
func partial(tables []report.Table) []string {
	var paths []string
	for _, t := range tables {
		if t.Sparse != nil || t.Top != nil || t.Discovered != nil {
			paths = append(paths, t.Path)
		}
	}
	return paths
}

// doNames are tables as a subject with its verb, before "not".
func doNames(paths []string) string {
	if len(paths) == 1 {
		return "table " + paths[0] + " does"
	}
	return "tables " + words.Few(paths) + " do"
}

// NotReading says how not to read the figures, beyond the box.
func NotReading(r *report.Report) []string {
	not := []string{
		"Do not work out a percentage or a rate over a small base without its margin: the base is noisy too.",
		"Do not take a difference from exact figures published elsewhere for an error of either, and do not check exact figures by these.",
	}
	if kinds := figureKinds(r.Tables); kinds[spec.Mean.String()] || kinds[spec.Ratio.String()] || kinds[spec.Quantiles.String()] ||
		kinds[spec.Variance.String()] || kinds[spec.Deviation.String()] {
		not = append(not, "Do not average means, ratios or quantiles over cells: they are not unbiased, and their cells are not of one size.")
	}
	if _, withheld, _ := figuresIn(r.Tables); withheld > 0 {
		not = append(not, "Do not conclude from a withheld figure that its group is small, or from a published one that it is not: the noisy count decides.")
	}
	if slices.ContainsFunc(r.Tables, func(t report.Table) bool { return t.Top != nil }) {
		not = append(not, "Do not take the cells of a table of chosen cells for exactly those with the largest counts.")
	}
	if len(r.Microdata) > 0 {
		not = append(not,
			"Do not learn from microdata how columns depend on each other that were not measured as a pair: what they show is an assumption.",
			"Do not put a margin, a test or a confidence interval around a figure from microdata: the rows are not a sample of the data.")
	}
	return not
}
