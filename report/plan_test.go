package report_test

// This file tests reports of the planner's plans, for every form of budget and neighbours.

import (
	"strings"
	"testing"

	"github.com/dprelease/dprelease/report"
)

func TestReportsOnPlansOfThePlanner(t *testing.T) {
	for name, c := range map[string]struct{ from, to, says string }{
		"pure": {"", "",
			"ε = 2 (pure differential privacy) for adding or removing one person, meaning all rows with the same " +
				"person_id; method: the ε of all"},
		"replace": {"neighbours: add-remove", "neighbours: replace", "for replacing one person by another"},
		"rho":     {"{epsilon: 2,", "{rho: 1/10,", "ρ = 0.1 (zero-concentrated differential privacy)"},
		"approximate": {"{epsilon: 2,", "{epsilon: 1/3, delta: 1e-9,",
			"ε ≤ 0.3333334 and δ = 1e-9 (approximate differential privacy)"},
		"rows":      {"unit: {id: person_id, max_rows: 1}", "unit: row", "meaning each row; method"},
		"many rows": {"max_rows: 1}", "max_rows: 12}", "of which at most 12 are counted; method"},
		"one leaf":  {", split: {headline: 3/5, detail: 2/5}", "", "ε = 2 (pure"},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(specText, c.from, c.to, 1)
			if name == "one leaf" {
				text = strings.NewReplacer(", budget: headline", "", ", budget: detail", "").Replace(text)
			}
			in := specInput(report.Official, text)
			r := reportOf(t, in)
			if !strings.Contains(r.Guarantee.Statement, c.says) {
				t.Errorf("got %s", r.Guarantee.Statement)
			}
			if again, err := report.Read(r.JSON()); err != nil || pageOf(t, again) != pageOf(t, r) {
				t.Errorf("reading it again: %v", err)
			}
			var parts float64
			for _, s := range r.Strategies {
				parts += s.PartOfBudget
			}
			if parts > 1+1e-12 || parts < 0.99 { // scales are rounded up to few digits
				t.Errorf("the tables use %v of the budget", parts)
			}
		})
	}
}
