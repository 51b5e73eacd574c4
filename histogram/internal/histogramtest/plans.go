package histogramtest

// This file holds releases for tests that count, and their plans.

import (
	"math/big"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/planner"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/domain"
)

// PlanOf returns the plan of the text of a release.
func PlanOf(t testing.TB, text string) *plan.Plan {
	t.Helper()
	return planNamed(t, "words.yaml", text)
}

// planNamed is PlanOf for a file name, which is part of the plan and so of its hash.
func planNamed(t testing.TB, name, text string) *plan.Plan {
	t.Helper()
	r, err := spec.Parse(spec.Source{Name: name, Text: text})
	if err != nil {
		t.Fatal(err)
	}
	p, err := planner.New(r)
	if err != nil {
		t.Fatal(err)
	}
	return p.Plan()
}

// trips is a release of one sparse table whose size, threshold and budget a test fills in.
const trips = `version: 1
release: trips
privacy: {protects: trip, neighbours: add-remove, account: trips}
budget: {BUDGET}
tables:
  trips:
    source: {csv: "*.csv"}
    unit: row
    columns:
      from: {type: integer, range: [1, SIDE]}
      to: {type: integer, range: [1, SIDE]}
IMPOSSIBLE
marginals:
  od: {by: [from, to], cells: {above: ABOVE}}
`

// Trips returns the plan of the trips, with replacements of the capitals.
func Trips(t testing.TB, replacements ...string) *plan.Plan {
	t.Helper()
	text := strings.NewReplacer(append(replacements, "BUDGET", "rho: 1/8", "SIDE", "30", "ABOVE", "3", "IMPOSSIBLE\n",
		"")...).Replace(trips)
	return planNamed(t, "trips.yaml", text)
}

// ruled is a survey with rules for rows of three columns, two of which tables show.
const ruled = `version: 1
release: survey
privacy: {protects: person, neighbours: add-remove, account: survey}
budget: {rho: 1/2}
tables:
  persons:
    source: {csv: "*.csv"}
    unit: UNIT
    columns:
      kind: {values: [a, b, c], unknown: {as: c}, null: drop}
      age: {type: integer, range: [0, 9], levels: {band: {width: 5}}}
      band: {derived_from: age.band}
      work: {values: [y, n], null: drop}
impossible:
  - {where: {kind: c, band: 0–4}, rows: ROWS}
  - {where: {work: y, age: [0, 1, 2, 3]}, rows: drop}
marginals:
  kinds: {by: [kind]}
  ages: {by: [age]}
  both: {by: [kind, age]}
  bands: {by: [band]}
`

// Ruled returns the plan of the survey with rules, with replacements of the capitals.
func Ruled(t testing.TB, replacements ...string) *plan.Plan {
	t.Helper()
	text := strings.NewReplacer(append(replacements, "UNIT", "row", "ROWS", "drop")...).Replace(ruled)
	return planNamed(t, "survey.yaml", text)
}

// survey is a release of one table whose unit and columns a test fills in.
const survey = `version: 1
release: survey
privacy: {protects: person, neighbours: add-remove, account: survey}
budget: {rho: 1/2}
tables:
  persons:
    source: {csv: "*.csv"}
    unit: UNIT
    columns:
      kind: {values: [a, b, c], unknown: UNKNOWN, null: NULL}
      age: {type: integer, range: [0, 9], levels: {band: {width: 5}}, unknown: UNKNOWN, null: NULL}
marginals:
  all: {by: [kind, age]}
  bands: {by: [age.band, kind]}
`

// Survey returns the plan of the survey, with replacements of the capitals.
func Survey(t testing.TB, replacements ...string) *plan.Plan {
	t.Helper()
	text := strings.NewReplacer(append(replacements, "UNIT", "row", "UNKNOWN", "error", "NULL", "error")...).
		Replace(survey)
	return planNamed(t, "survey.yaml", text)
}

// payroll is a table of jobs, several to a person, whose values a test reads by ranges of its own.
const payroll = `version: 1
release: payroll
privacy: {protects: person, neighbours: add-remove, account: payroll}
budget: {rho: 1/2}
tables:
  jobs:
    source: {csv: "*.csv"}
    unit: UNIT
    columns:
      size: {values: [small, large], unknown: drop}
      region: {values: [n, s, e], levels: {half: {polar: [n, s], other: [e]}}, unknown: drop}
      age: {type: integer, range: [0, 9], levels: {band: {width: 5}}}
marginals:
  all: {by: [size, region]}
`

// Payroll returns the release of the payroll with pay on a lattice of halves, from 0 to 3 in small firms and from 2
// to 6 in large ones, and weights from 0 to 3.
func Payroll(t testing.TB, unit string) *spec.Release {
	t.Helper()
	r, err := spec.Parse(spec.Source{Name: "payroll.yaml", Text: strings.Replace(payroll, "UNIT", unit, 1)})
	if err != nil {
		t.Fatal(err)
	}
	table := r.Tables[0]
	table.Columns = append(table.Columns, &spec.Column{Name: "pay", From: "pay",
		Null: spec.Policy{Action: spec.Drop},
		Declaration: domain.Declaration{Type: domain.Decimal, Lattice: &domain.Lattice{Step: big.NewRat(1, 2), First: 0,
			Last: 12, By: "size", Strata: []domain.Stratum{{First: 0, Last: 6}, {First: 4, Last: 12}}}}})
	table.Weight = &spec.Weight{From: "w", Lattice: domain.Lattice{Step: big.NewRat(1, 1), First: 0, Last: 3}}
	return r
}
