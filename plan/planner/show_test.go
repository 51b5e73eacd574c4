package planner_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/plan/describe"
	"github.com/dprelease/dprelease/plan/internal/plantest"
	"github.com/dprelease/dprelease/plan/planner"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/language"
)

// shownText is a spec with a mean of hours in 20 cells, whose table expects so many rows.
func shownText(rows int, show string) string {
	return fmt.Sprintf(`version: 1
release: hours
privacy: {protects: person, neighbours: add-remove}
budget: {rho: 1/50}
tables:
  persons:
    source: {parquet: p.parquet}
    unit: {id: id, max_rows: 1}
    expect: {rows: [%d, %[1]d]}
    columns:
      place: {values: [p01, p02, p03, p04, p05, p06, p07, p08, p09, p10, p11, p12, p13, p14, p15, p16, p17, p18, p19, p20]}
      hours: {type: integer, range: [0, 32]}
marginals:
  hours: {by: [place], stats: [count, {sum: hours}, {mean: hours}]%s}
`, rows, show)
}

// TestSmallCellsAreAdvisedToBeWithheld: with ρ = 1/100 for each of count and sum, of which a unit moves the sum about
// the middle by 16 at most, standard errors are √50 = 7.07 and 113.1, and the margin of a sum 1.96·√(113.1² +
// (16·7.07)²) = 313.6: as much as 20 rows of the middle of the range. At an end of the range the mean of N rows has the
// margin 313.6/N, and an interval of half of the range with 2·313.6/16 = 39.2 rows.
func TestSmallCellsAreAdvisedToBeWithheld(t *testing.T) {
	for _, c := range []struct {
		rows int
		show string
		want string
	}{
		{1000, "", "in cells with a count below about 40 (an average cell has 50), the figures of hours other than " +
			"counts are little more than noise"},
		{20000, "", ""}, // an average cell has 1000 rows
		{1000, ", show: {when_count_at_least: 30}", ""},
	} {
		p := plantest.Must(planner.New(
			plantest.Must(spec.Parse(spec.Source{Name: "r.yaml", Text: shownText(c.rows, c.show)}))(t)))(t)
		var got string
		for _, w := range describe.Warnings(language.English, p.Plan()) {
			if strings.Contains(w, "when_count_at_least") {
				got = w
			}
		}
		if c.want == "" && got != "" || !strings.HasPrefix(got, c.want) || c.want != "" &&
			!strings.Contains(got, "show: {when_count_at_least: 40}") {
			t.Errorf("%d rows%s: %q, expected %q", c.rows, c.show, got, c.want)
		}
	}
}
