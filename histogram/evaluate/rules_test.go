package evaluate

import (
	"testing"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/planner"
	"github.com/dprelease/dprelease/spec"
)

const ruledSpec = `version: 1
release: ruled
privacy: {protects: person, neighbours: add-remove, account: survey}
budget: {rho: 1/2}
tables:
  persons:
    source: {csv: "*.csv"}
    unit: row
    where: years >= 2 and kind != 'c'
    columns:
      kind: {values: [a, b, c]}
      age: {from: years, type: integer, range: [0, 9], levels: {band: {width: 5}}}
      group: {derived_from: age.band}
      work: {values: [x, y]}
impossible:
  - {where: {kind: b, group: 0–4}, rows: drop}
  - {where: {work: y, age: [8]}, rows: drop}
marginals: {all: {by: [kind, work]}}
`

// The rows that break a rule are counted; what is said of each is worked out by hand.
func TestViolations(t *testing.T) {
	parse := func() *plan.Plan {
		r, err := spec.Parse(spec.Source{Name: "ruled.yaml", Text: ruledSpec})
		if err != nil {
			t.Fatal(err)
		}
		p, err := planner.New(r)
		if err != nil {
			t.Fatal(err)
		}
		return p.Plan()
	}
	p := parse()
	factor := func(column, level string) plan.Factor {
		return plan.Factor{Attribute: column, Level: level, Basis: plan.Identity}
	}
	s := plan.Synthetic{Table: "persons", By: []plan.Factor{factor("kind", ""), factor("age", ""), factor("work", "")},
		Derived: []plan.Factor{factor("group", "")}}
	rows := Rows{Table: "persons", By: s.Columns(), Codes: [][]uint32{
		{0, 1, 1, 1, 2, 0, 0}, // kind
		{1, 4, 5, 2, 9, 8, 8}, // age: the first is below 2
		{0, 0, 0, 0, 1, 1, 0}, // work: the sixth is y at 8
		{0, 0, 1, 1, 1, 1, 0}, // group: wrong in the fourth and the last
	}}
	got, err := Violations(p, s, rows)
	if err != nil {
		t.Fatal(err)
	}
	want := []Violation{
		{Rule: "no row has kind = b with age.band = 0–4", Rows: 2}, // b at 4 and at 2: age decides
		{Rule: "no row has work = y with age = 8", Rows: 1},
		{Rule: "age decides group", Rows: 2},
		{Rule: "every row has years >= 2 and kind != 'c'", Rows: 2}, // a at 1, and c
	}
	if len(got) != len(want) {
		t.Fatalf("%+v", got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%+v, want %+v", got[i], want[i])
		}
	}

	// By bands it cannot be told who is 8, nor who is below 2; without kind nothing is told of it.
	s.By, s.Derived = []plan.Factor{factor("age", "band"), factor("work", "")}, nil
	got, err = Violations(p, s, Rows{Table: "persons", By: s.Columns(), Codes: [][]uint32{{0, 1}, {1, 1}}})
	if err != nil {
		t.Fatal(err)
	}
	for i, untold := range []string{"the microdata have no column kind",
		"the microdata have these columns by categories that do not tell it",
		"the microdata do not have years as the source has it"} {
		if got[i].WhyUnknown != untold || got[i].Rows != 0 {
			t.Errorf("%+v, want %q", got[i], untold)
		}
	}
	if _, err := Violations(p, s, Rows{Table: "persons", By: s.Columns(), Codes: [][]uint32{{2}, {0}}}); err == nil {
		t.Error("a code that its level does not have is taken")
	}
}
