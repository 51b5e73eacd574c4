package report_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/plan/planner"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/maker"
	"github.com/dprelease/dprelease/report/page"
	"github.com/dprelease/dprelease/spec"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

const twoTables = `version: 1
release: care
privacy: {protects: person, neighbours: replace, account: lfs-panel}
budget: {rho: 1}
tables:
  persons:
    source: {csv: p.csv}
    unit: {id: person_id, max_rows: 1}
    join: {register: {csv: register.csv, on: person_id, public: true}}
    columns: {size: {from: register.size, values: [small, large]}}
  visits:
    source: {csv: v.csv}
    unit: {id: patient, max_rows: 4, null: drop}
    columns: {ward: {values: [a, b]}}
marginals:
  sizes: {table: persons, by: [size]}
  wards: {table: visits, by: [ward]}
`

// TestReportsOfTwoTables checks that the unit is stated for each table, in every form, and that public tables are named
// and not called code books.
func TestReportsOfTwoTables(t *testing.T) {
	r, err := spec.Parse(spec.Source{Text: twoTables,
		Files: map[string]string{"register.csv": "person_id,name,size\n1,A,small\n2,B,large\n"}})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Warnings) != 2 ||
		!strings.Contains(r.Warnings[1].Message, "persons identifies units by person_id, and visits by patient") {
		t.Errorf("warnings %v", r.Warnings)
	}
	p, err := planner.New(r)
	if err != nil {
		t.Fatal(err)
	}
	out := reportOf(t, maker.Input{Plan: p, Tables: published(p.Plan(), nil),
		Receipt:  receiptFor(p.Plan(), report.Official),
		Software: "dprelease 0.1.0"})
	instance, err := jsonschema.UnmarshalJSON(bytes.NewReader(out.JSON()))
	if err != nil {
		t.Fatal(err)
	}
	if err := compiledSchema(t).Validate(instance); err != nil {
		t.Error(err)
	}
	text := string(out.JSON())
	for _, says := range []string{
		"all rows with the same id (person_id in persons and patient in visits)",
		"of which at most 1 in persons and 4 in visits are counted",
		"For each person, at most 1 row in persons and 4 rows in visits are counted, chosen at random. Rows without " +
			"an id were left out",
		"At most 1 row in persons and 4 rows in visits of a unit are counted, chosen at random under a secret key, " +
			"and the losses of the unit in all tables are added up",
		"How many units (each person) there are, in all tables together, is no secret.",
		"The table register (register.csv), to which rows of persons are joined by person_id, is public: nothing in " +
			"it is protected",
		`"code_books": []`,
	} {
		if !strings.Contains(text, says) {
			t.Errorf("the report does not say %q", says)
		}
	}
	if strings.Contains(text, "1,A,small") {
		t.Error("the report holds the public table")
	}
	if !strings.Contains(string(page.Markdown(out)), "Public table register.csv: ") ||
		!strings.Contains(pageOf(t, out), "Public table register.csv") {
		t.Error("the pages do not name the public table")
	}
}
