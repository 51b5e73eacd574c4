package describe_test

import (
	"strings"
	"testing"

	"github.com/dprelease/dprelease/plan/describe"
	"github.com/dprelease/dprelease/plan/internal/plantest"
	"github.com/dprelease/dprelease/plan/planner"
	"github.com/dprelease/dprelease/spec"
)

// TestComputedColumnsAreStatedAndCharged checks that a column made of the values of another is charged with it, that
// a column by whose values rows are left out is charged for everything that is measured, and that the page and the
// facts state which rows count.
func TestComputedColumnsAreStatedAndCharged(t *testing.T) {
	text := `version: 1
release: r
privacy: {protects: person, neighbours: add-remove}
budget: {rho: 1}
tables:
  t:
    source: {csv: a.csv}
    unit: row
    where: country == 'de'
    columns:
      age: {type: integer, range: [0, 9]}
      adult: {from: age >= 5, values: [minor, adult]}
      sex: {values: [f, m]}
      country: {values: [de, fr]}
marginals:
  ages: {by: [age]}
  both: {by: [age, adult]}
  adults: {by: [adult, sex]}
  countries: {by: [country]}
`
	r, err := spec.Parse(spec.Source{Text: text})
	if err != nil {
		t.Fatal(err)
	}
	p, err := planner.New(r)
	if err != nil {
		t.Fatal(err)
	}
	if page := plantest.PageOf(t, p.Plan()); !strings.Contains(page, "only those count for which this is true: "+
		"country == 'de'") {
		t.Errorf("the page does not say which rows count:\n%s", page)
	}
	if !describe.Drops(p.Plan(), "t", "country") || describe.Drops(p.Plan(), "t", "age") ||
		describe.Drops(p.Plan(), "t", "sex") {
		t.Error("rows are left out by country, and by nothing else")
	}
	for _, m := range p.Measurements {
		moved := 0
		for _, f := range m.Query.Factors {
			if f.Attribute == "age" || f.Attribute == "adult" {
				moved++
			}
		}
		age, err := describe.Changed(p.Plan(), m, "age")
		if err != nil {
			t.Fatal(err)
		}
		adult, err := describe.Changed(p.Plan(), m, "adult")
		if err != nil {
			t.Fatal(err)
		}
		if age.L2Squared.Cmp(adult.L2Squared) != 0 {
			t.Errorf("%s: %s for age, %s for adult, whose values are made of it", m.ID, age.L2Squared, adult.L2Squared)
		}
		if removed := describe.Exchanged(p.Plan(), m.Mechanism); moved == 2 &&
			age.L2Squared.Cmp(removed.L2Squared) > 0 {
			t.Errorf("%s: %s, more than for a row taken away and one put in, %s", m.ID, age.L2Squared,
				removed.L2Squared)
		}
	}
}
