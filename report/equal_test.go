package report_test

// This file tests that a report depends only on the plan and the noisy answers. TestReadGivesTheReportBack tests that
// its pages depend only on report.json.

import (
	"bytes"
	"slices"
	"testing"

	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/maker"
	"github.com/dprelease/dprelease/report/page"
	"github.com/dprelease/dprelease/synth"
)

// pagesOf returns all pages of a report by the names of their files.
func pagesOf(t *testing.T, r *report.Report) map[string][]byte {
	t.Helper()
	html, err := page.HTML(r)
	if err != nil {
		t.Fatal(err)
	}
	return map[string][]byte{"report.json": r.JSON(), "report.html": html, "report.md": page.Markdown(r),
		"README.txt": page.Readme(r)}
}

// exactCounts returns the exact answers of two confidential tables to a measurement: the same number of rows in
// different cells.
func exactCounts(m plan.Measurement, other bool) []int64 {
	counts := make([]int64, m.Cells)
	for i := range counts {
		counts[i] = int64(1000 + 37*i)
	}
	if other {
		slices.Reverse(counts)
		counts[0] += 12345
	}
	return counts
}

// TestEqualAnswersMakeEqualReports takes two confidential tables, and noise that gives the same noisy answers for both.
// The reports are equal, and one more in a single answer changes the report.
func TestEqualAnswersMakeEqualReports(t *testing.T) {
	p := planned(specText)
	of := func(other bool, more int64) map[string][]byte {
		s := &measured.Sealed{Plan: compiled.Of(p)}
		for _, m := range p.Measurements {
			answers := exactCounts(m, other)
			noise := make([]int64, len(answers)) // the noise that turns the exact answer into noisyCounts
			for i := range noise {
				noise[i] = noisyCounts["pairs/sex_x_status"][i%6] - answers[i]
				answers[i] += noise[i]
			}
			answers[0] += more
			s.Measured = append(s.Measured, measured.Measured{Measurement: m, Values: integers(answers)})
		}
		tables, err := synth.Estimate(s)
		if err != nil {
			t.Fatal(err)
		}
		return pagesOf(t, reportOf(t, maker.Input{Plan: compiled.Of(p), Tables: tables,
			Receipt:  receiptFor(p, report.Official),
			Software: "dprelease 0.1.0"}))
	}
	one, other, more := of(false, 0), of(true, 0), of(false, 1)
	for name := range one {
		if !bytes.Equal(one[name], other[name]) {
			t.Errorf("%s tells two confidential tables with equal noisy answers apart", name)
		}
	}
	if bytes.Equal(one["report.json"], more["report.json"]) {
		t.Error("another noisy answer leaves the report as it was: this test shows nothing")
	}
}
