package report_test

// This file tests what a report says about cumulative tables, and about tables whose neighbouring cells should be added
// up.

import (
	"strings"
	"testing"

	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/page"
)

// A cumulative table is explained wherever it is listed, and never summed again.
func TestPagesOfTablesThatCountUp(t *testing.T) {
	for _, budget := range []string{"{rho: 1}", "{epsilon: 1}", "{epsilon: 1, delta: 1e-9, minimise: sum}"} {
		r := reportOf(t, summedInput(budget))
		up, ages := r.Tables[0], r.Tables[1]
		if strings.Join(up.Cumulative, " ") != "age" || up.Ranges != nil || strings.Join(ages.Ranges, " ") != "age" ||
			ages.Cumulative != nil {
			t.Errorf("%s: %+v and %+v", budget, up, ages)
		}
		if s := up.Statistics[0]; s.Name != "cumulative_count" || s.TotalPublished != "" || s.TotalUnbiased != "" {
			t.Errorf("%s: %+v", budget, s)
		}
		if s := ages.Statistics[0]; s.Name != "count" || s.TotalPublished == "" || s.TotalUnbiased == "" {
			t.Errorf("%s: %+v", budget, s)
		}
		for name, text := range pages(t, r) {
			text = strings.Join(strings.Fields(strings.NewReplacer("<code>", "`", "</code>", "`").Replace(text)), " ")
			if name == "report.json" {
				continue
			}
			for _, want := range []string{
				"In upto, each row counts all that have its category of age or an earlier one. So the rows are " +
					"already added up: do not add them.",
				"In ages, each row counts only its own category. The table is made for sums of neighbours along age, " +
					"which `dprelease query` adds up with their error."} {
				if strings.Count(text, want) != 1 {
					t.Errorf("%s: %s does not say %q once", budget, name, want)
				}
			}
		}
		if got := note(t, r, "Add up the unbiased column"); strings.Contains(got, "cumulative") {
			t.Error(got)
		}
		if got := note(t, r, "Cumulative counts are already added up"); !strings.Contains(got,
			"adding rows counts the same units again") {
			t.Error(got)
		}
		found := false
		for _, s := range r.Strategies {
			found = found || strings.Contains(s.Text, "Along age, sums of neighbouring categories are measured "+
				"instead of single categories")
			if strings.Contains(s.Text, "noise of its own on every cell") && len(s.Tables) == 3 {
				t.Errorf("%s: %s", budget, s.Text)
			}
		}
		// Along eight ages Laplace noise on cells adds up to less than noise on halves would: it is the other that is
		// measured.
		if measured := budget == "{rho: 1}"; found != measured {
			t.Errorf("%s: %+v", budget, r.Strategies)
		}
	}
	readme := string(page.Readme(reportOf(t, summedInput("{rho: 1}"))))
	if !strings.Contains(strings.Join(strings.Fields(readme), " "),
		"a row counts all up to its category, so the rows are already added up: do not add them") ||
		strings.Contains(readme, "cumulative_count_unbiased\n      for sums") {
		t.Error(readme)
	}
}

// A release with only such tables gives no advice to add up.
func TestCumulativeTablesAlone(t *testing.T) {
	r := reportOf(t, specInput(report.Official, head("{rho: 1}", "age: {type: integer, range: [0, 7]}",
		"upto: {by: [age], cumulative: [age]}")))
	for _, n := range r.Reading {
		if n.Heading == "Add up the unbiased column" {
			t.Error(n.Text)
		}
	}
	if got := note(t, r, "Every number has an error of its own"); !strings.Contains(got, "cumulative_count_low") {
		t.Error(got)
	}
}

func TestReportWithoutSumsSaysNothingOfThem(t *testing.T) {
	for name, text := range pages(t, reportOf(t, input(report.Official, nil))) {
		for _, wrong := range []string{"umulative", "already added up", "sums of neighbours along",
			"neighbouring categories"} {
			if strings.Contains(text, wrong) {
				t.Errorf("%s says %q", name, wrong)
			}
		}
	}
}
