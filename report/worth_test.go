package report_test

// This file tests targets and bands, on every page that lists tables.

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/page"
)

func TestTargetsAreToldWithTheirMargins(t *testing.T) {
	r := reportOf(t, targetInput())
	sexes, pairs := r.Tables[0].Target, r.Tables[1].Target
	if sexes == nil || sexes.Margin != "20" || sexes.Confidence != "0.95" || sexes.AllCells ||
		sexes.Reached > 20*(1+1e-6) || sexes.Reached <= 0 {
		t.Errorf("%+v", sexes)
	}
	if pairs == nil || pairs.Margin != "30" || pairs.Confidence != "0.99" || !pairs.AllCells ||
		pairs.Reached > 30*(1+1e-6) || pairs.Reached <= 0 {
		t.Errorf("%+v", pairs)
	}
	if len(r.Budget.Leaves) != 2 || !r.Budget.Leaves[0].Needed || r.Budget.Leaves[1].Needed {
		t.Errorf("%+v", r.Budget.Leaves)
	}
	for name, text := range pages(t, r) {
		if name == "report.json" || name == "README.txt" {
			continue
		}
		row := "| %s | %s | ±"
		if name == "report.html" {
			row = `<th scope="row">%s</th><td>%s</td><td class="n">±`
		}
		for _, want := range []string{fmt.Sprintf(row, "sexes", "±20, 95% sure of each cell"),
			fmt.Sprintf(row, "pairs", "±30, 99% sure of all cells at once"), "as targets need",
			"Part a of the budget gets what the targets of its tables need"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s does not say %q", name, want)
			}
		}
	}
	if s := r.Strategies[0]; !strings.Contains(s.Text, "For the same targets, ") ||
		!strings.Contains(s.Text, ", for ρ ") {
		t.Errorf("%+v", s)
	}
	if got := (page.View{Report: reportOf(t, input(report.Official, nil))}).Targets(); got != nil {
		t.Errorf("no table has a target: %v", got)
	}
}

// 800 rows are expected: 400 of each sex. Along eight ages counted up a row of a sex has 400·(1 + … + 8)/(8·8) = 225 on
// the mean, and an age by itself 100. With a margin below a tenth of that a table is good.
func TestBandsStandWithTheTables(t *testing.T) {
	r := reportOf(t, summedInput("{rho: 1}"))
	for i, cell := range []float64{225, 100, 400} {
		if one := r.Tables[i]; math.Abs(one.AverageCell-cell) > 1e-6*cell || one.Band != "good" ||
			one.Statistics[0].Margin > cell/10 {
			t.Errorf("%+v, want an average cell of %v", one, cell)
		}
	}
	for name, text := range pages(t, r) {
		if name != "report.json" && name != "README.txt" &&
			!strings.Contains(text, "A band compares the noise with an average cell") {
			t.Errorf("%s does not say what a band is", name)
		}
	}
	for name, text := range pages(t, reportOf(t, input(report.Official, nil))) {
		if strings.Contains(text, "A band compares") || strings.Contains(text, `"band"`) ||
			strings.Contains(text, "| band") {
			t.Errorf("%s has bands, but nothing is known of the number of rows", name)
		}
	}
}
