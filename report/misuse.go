package report

// This file holds what the figures must not be used for: the box of the first page, with what matters most first, and the
// further warnings, which stand where it is said how to read the figures.

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/spec"
)

// misuseOf says what the figures must not be used for, what matters most first.
func misuseOf(r *Report) []string {
	var uses []string
	switch r.Status {
	case Practice:
		uses = append(uses, "For anything outside the team that made it: this is practice, not a release.")
	case Rehearsal:
		uses = append(uses, "For any statement about the world: the data were made up.")
	}
	for _, tables := range []string{hardlyTold(r), unfit(r), untoldUse(r)} {
		if tables != "" {
			uses = append(uses, tables)
		}
	}
	uses = append(uses,
		"To find out anything about a single "+r.Guarantee.Protects+", or to join with other data for that purpose.",
		"To decide anything on one small number: a number at or below its margin cannot be told from none, and 0 does not mean that there was nobody.")
	if use := r.sameUse(); use != "" {
		uses = append(uses, use)
	}
	if weighted(r.Tables) {
		uses = append(uses, "To take the interval of a weighted count, or of a figure beside it, for the confidence interval of a survey: it holds the noise for privacy alone, and the sampling error comes on top.")
	}
	if len(r.Figured()) > 0 {
		uses = append(uses, "To quote a mean, a ratio or another figure without its interval, or where its flag says that it has none.")
	}
	if some := partial(r.Tables); some != nil {
		uses = append(uses, fmt.Sprintf("To take what %s not have for empty or small: noise had a part in what is shown there.", doNames(some)))
	}
	if len(r.Microdata) > 0 {
		uses = append(uses, "To take a row of microdata for somebody, or for a row of the data: no row is anybody's.")
	}
	return uses
}

// oneBound tells that the margin of the headline bounds that of every count: it is of all of one unit, and of every table.
func (r *Report) oneBound() bool {
	sparse := len(sparseIn(r.Tables))
	return len(r.Accuracy.Groups) <= 1 && (sparse == 0 || sparse == len(r.Tables)) &&
		!some(r.Tables, func(s Statistic) bool { return s.Margin > r.Accuracy.Margin })
}

// untold are the tables with cells that cannot be told from none, most first, how many these are, and of how many.
func (r *Report) untold() (in []Table, cells, of int64) {
	for _, t := range r.Tables {
		if t.Aside {
			continue
		}
		of += (t.Cells - t.Impossible) * int64(len(t.Statistics))
		if n := t.noiseCells(); n > 0 {
			in, cells = append(in, t), cells+n
		}
	}
	slices.SortStableFunc(in, func(a, b Table) int { return cmp.Compare(b.noiseCells(), a.noiseCells()) })
	return in, cells, of
}

// noiseCells is how many of its cells cannot be told from none.
func (t Table) noiseCells() int64 {
	var n int64
	for _, s := range t.Statistics {
		n += s.NoiseCells
	}
	return n
}

// untoldNamed is how many tables are named that have most of the cells which cannot be told from none.
const untoldNamed = 3

// untoldUse says how many single cells cannot be told from none, and where most of them are; "" where there are none.
func untoldUse(r *Report) string {
	in, cells, of := r.untold()
	if cells == 0 {
		return ""
	}
	var names []string
	for _, t := range in[:min(len(in), untoldNamed)] {
		names = append(names, fmt.Sprintf("%s (%s of %s)", t.Path, budget.Group(t.noiseCells()), budget.Group((t.Cells-t.Impossible)*int64(len(t.Statistics)))))
	}
	where := " They are in " + inWords(names) + "."
	if len(in) > untoldNamed {
		where = " The largest numbers of them are in " + inWords(names) + "."
	}
	flag := fmt.Sprintf("they carry the flag noise_dominates, in the column %s_flag.", r.figure())
	if cells == 1 {
		return fmt.Sprintf("To use by itself the one cell, of %s, that cannot be told from none: it carries the flag noise_dominates, in the column %s_flag. It is in %s.", budget.Group(of), r.figure(), names[0])
	}
	return fmt.Sprintf("To use by itself one of the %s cells, of %s, that cannot be told from none: %s%s", budget.Group(cells), budget.Group(of), flag, where)
}

// partial are the paths of the tables of which cells are missing: those above a threshold, chosen or let through alone are there.
func partial(tables []Table) []string {
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
	return "tables " + fewNames(paths) + " do"
}

// notReadOf says how not to read the figures, beyond the box.
func notReadOf(r *Report) []string {
	not := []string{
		"Do not work out a percentage or a rate over a small base without its margin: the base is noisy too.",
		"Do not take a difference from exact figures published elsewhere for an error of either, and do not check exact figures by these.",
	}
	if kinds := figureKinds(r.Tables); kinds[spec.Mean] || kinds[spec.Ratio] || kinds[spec.Quantiles] || kinds[spec.Variance] || kinds[spec.Deviation] {
		not = append(not, "Do not average means, ratios or quantiles over cells: they are not unbiased, and their cells are not of one size.")
	}
	if _, withheld, _ := figuresIn(r.Tables); withheld > 0 {
		not = append(not, "Do not conclude from a withheld figure that its group is small, or from a published one that it is not: the noisy count decides.")
	}
	if slices.ContainsFunc(r.Tables, func(t Table) bool { return t.Top != nil }) {
		not = append(not, "Do not take the cells of a table of chosen cells for exactly those with the largest counts.")
	}
	if len(r.Microdata) > 0 {
		not = append(not,
			"Do not learn from microdata how columns hang together that were not measured as a pair: what they show is an assumption.",
			"Do not put a margin, a test or a confidence interval around a figure from microdata: the rows are not a sample of the data.")
	}
	return not
}

// noiseShare is from which part of its cells on, that cannot be told from none or are in the last class of fitness, a table is
// warned of.
const noiseShare = 0.5

// hardlyTold names the tables half of whose cells, or more, cannot be told from none; "" where there are none.
func hardlyTold(r *Report) string {
	return notSingly(r, "cannot be told from none", func(s Statistic) float64 { return s.NoiseShare })
}

// unfit names the tables half of whose cells, or more, are in the last class of fitness, beside those that are hardly told; ""
// where there are none.
func unfit(r *Report) string {
	columns := r.FitColumns()
	if columns == nil {
		return ""
	}
	return notSingly(r, fmt.Sprintf("are in the class “%s”", columns[len(columns)-1].Name), func(s Statistic) float64 {
		if s.Fit == nil || s.NoiseShare >= noiseShare {
			return 0
		}
		return s.Fit[len(s.Fit)-1].Share
	})
}

// notSingly names the tables of whose cells half or more are as it is said, "" where there are none.
func notSingly(r *Report, said string, share func(Statistic) float64) string {
	var names []string
	help := "Add cells up, or leave them out."
	for _, t := range r.Tables {
		for _, s := range t.Statistics {
			part := share(s)
			if part >= noiseShare && s.Name == string(spec.Units) {
				help = "Leave them out, or add cells up where they are no counts of units."
			}
			if part >= noiseShare && !t.Aside {
				names = append(names, fmt.Sprintf("%s (%s of its cells)", t.Path, budget.Percent(part)))
				break
			}
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "To read single cells of tables of which half or more " + said + ": " + fewNames(names) + ". " + help
}
