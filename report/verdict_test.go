package report_test

// This file tests the verdict on a table, for which plan, what-if page and report use the same rule.

import (
	"strings"
	"testing"

	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/usefulness"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/maker"
)

// TestPlanAndReportGiveOneVerdict publishes a table of six cells whose spec expects a number of rows. Its counts have
// discrete Laplace noise of scale 15/4, with a standard error of 5.3 and a margin of 11: with 6000 rows that is small
// relative to an average cell of 1000, however unevenly the rows are distributed, and with 12 rows it is not.
func TestPlanAndReportGiveOneVerdict(t *testing.T) {
	for _, c := range []struct {
		rows   string
		counts []int64
		plan   usefulness.Verdict
		report usefulness.Verdict
	}{
		{"[6000, 6000]", []int64{1002, 997, 1001, 1000, 999, 1003}, usefulness.UseCells, usefulness.UseCells},
		{"[6000, 6000]", []int64{3, 5994, 1, -2, 0, 2}, usefulness.UseCells, usefulness.AddUpFirst}, // all rows in one cell
		{"[12, 12]", []int64{3, 2, 1, 2, 4, 1}, usefulness.DoNotUse, usefulness.DoNotUse},
		{"[12, 12]", []int64{30, 28, 27, 29, 31, 28}, usefulness.DoNotUse, usefulness.DoNotUse},
		// the noise happens to raise all of them
	} {
		p := planned(strings.Replace(oneTable("{epsilon: 4/15}"), "max_rows: 1}", "max_rows: 1}, expect: {rows: "+
			c.rows+"}",
			1))
		table := p.Tables[0]
		if got := table.Usefulness.Verdict; got != c.plan {
			t.Errorf("%s rows: the plan says %q, want %q", c.rows, got, c.plan)
		}
		in := maker.Input{Plan: compiled.Of(p), Tables: published(p, map[string][]int64{"status": c.counts}),
			Receipt: receiptFor(p, report.Official), Software: "dprelease 0.1.0", Modules: modules}
		r := reportOf(t, in)
		if got := r.Tables[0].Statistics[0].Verdict; got != c.report {
			t.Errorf("%s rows, counts %d: the report says %q, want %q", c.rows, c.counts, got, c.report)
		}
		says := strings.Contains(strings.Join(r.Misuse, "\n"), table.Path+" cell by cell")
		if says != (c.report == usefulness.DoNotUse) {
			t.Errorf("%s rows, counts %d: the box names the table: %v", c.rows, c.counts, says)
		}
	}
}
