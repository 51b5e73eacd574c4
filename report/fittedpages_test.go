package report_test

// This file tests what pages say about counts that were adjusted to add up: errors are of the unbiased counts, and the
// pages say how far the published ones were moved from these.

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/internal/screen"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/maker"
	"github.com/dprelease/dprelease/report/page"
)

// fittedInput is the fixture's release with counts that add up, some of which noise has made strongly negative.
func fittedInput() maker.Input {
	p, noisy := planned(specText+"publish: {integers: consistent}\n"), map[string][]int64{}
	for _, m := range p.Measurements {
		noisy[m.ID] = []int64{400, -40, 300, 500, -25, 200}[:m.Cells]
	}
	return maker.Input{Plan: compiled.Of(p), Tables: published(p, noisy), Receipt: receiptFor(p, report.Official),
		Software: "dprelease 0.1.0"}
}

// fittedPages returns all pages of a report, each text on one line.
func fittedPages(t *testing.T, r *report.Report) map[string]string {
	t.Helper()
	all := pages(t, r)
	delete(all, "report.json")
	all["terminal"] = string(page.Terminal(r, screen.Look{Columns: 200}, "f", false))
	for name, text := range all {
		all[name] = strings.Join(strings.Fields(strings.NewReplacer("\\", "", "&#39;", "'").Replace(text)), " ")
	}
	return all
}

// For numbers that were adjusted to add up the margin is of the numbers before the adjustment, on every page, followed
// by how far they were moved.
func TestTheHeadlineOfFittedCountsIsOfTheUnbiasedOnes(t *testing.T) {
	in := fittedInput()
	var cells, off, most float64
	for _, table := range in.Tables {
		s := table.Statistics[0]
		for i, n := range s.Published.Int64Values() {
			d := math.Abs(float64(n) - s.Unbiased.Value(i))
			cells, off, most = cells+1, off+d, max(most, d)
		}
	}
	if cells != 17 || most < 5 {
		t.Fatalf("%v cells, moved by up to %v: the fixture shows nothing", cells, most)
	}
	first := "Each of the 17 published numbers (as they were before they were made to add up: count_unbiased) is within "
	then := fmt.Sprintf("To add up, the published count was moved from there, by %s on average and by %d at most. It "+
		"can be that much further from the exact figure.",
		budget.DecimalNearest(off/cells, 2), int(math.Ceil(most)))
	r := reportOf(t, in)
	for name, text := range fittedPages(t, r) {
		for _, want := range []string{first, then} {
			if !strings.Contains(text, want) {
				t.Errorf("%s does not say %q", name, want)
			}
		}
	}
	if plain := strings.Join(page.View{Report: reportOf(t, input(report.Official, nil))}.Opening(),
		" "); strings.Contains(plain, "add up") {
		t.Error(plain)
	}
}

// Every margin, probability, difference, flag and verdict says which counts it is about; nothing is promised about
// adjusted counts.
func TestPagesSayWhichCountsErrorsAreOf(t *testing.T) {
	const of = "Where counts were made to add up, margins, chances, intervals and verdicts refer to count_unbiased"
	said := map[string][]string{
		"report.html": {of,
			"The chance is a lower bound on the probability that one number, before counts were made to add up, is " +
				"within the margin",
			"differ if their unbiased counts are at least this far apart",
			"compare the unbiased counts: adding up has moved the published ones",
			"around the unbiased count", "the interval is that of the unbiased count, and the figure can lie outside",
			"Making counts add up has moved count", "No count is below zero.",
			"show exactly how far each cell was moved", "The average of this over the noise is the bias",
			"but if the interval reaches zero, it says noise_dominates"},
		"report.md": {of, "differ if their unbiased counts are at least this far apart",
			"compare the unbiased counts: adding up has moved the published ones",
			"show exactly how far each cell was moved"},
		"terminal": {of, "from which on the unbiased counts of two cells of the table"},
		"README.txt": {"for reading: the noisy figure, rounded and fitted to add up",
			"it belongs to count_unbiased, and count can be outside", "or fitted: none of these, and another number",
			"compare the unbiased counts: adding up has moved the published ones"},
	}
	never := []string{"published counts are at least", "if they are at least this far",
		"from which on two cells", "sums over count are too high", "shows such a number as 0",
		"that one number is within"}
	r := reportOf(t, fittedInput())
	for name, text := range fittedPages(t, r) {
		for _, want := range said[name] {
			if !strings.Contains(text, want) {
				t.Errorf("%s does not say %q", name, want)
			}
		}
		for _, not := range never {
			if strings.Contains(text, not) {
				t.Errorf("%s says %q", name, not)
			}
		}
	}
	for i := range r.Tables {
		r.Tables[i].Statistics[0].Fitted.Way = plan.Tabulated
	}
	if text := fittedPages(t, r)["README.txt"]; !strings.Contains(text,
		"for reading: how many rows of the microdata are in the cell") ||
		strings.Contains(text, "the noisy figure, rounded and fitted") {
		t.Error("README.txt takes counts of a model's rows for noisy figures")
	}
	_, page := whatIfPage(t,
		"version: 1\nrelease: r\nprivacy: {protects: person, neighbours: add-remove}\nbudget: {rho: 1}\n"+
			"publish: {integers: consistent}\n"+
			"tables: {t: {source: {csv: t.csv}, unit: row, columns: {sex: {values: [f, m]}}}}\n"+
			"marginals: {m: {by: [sex]}}\n")
	if !strings.Contains(page, "19 times in 20 the count, before it is made to add up, lies that near") {
		t.Error("the page of other budgets promises a margin of published counts")
	}
}
