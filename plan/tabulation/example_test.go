package tabulation_test

import (
	"fmt"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/planner"
	"github.com/dprelease/dprelease/plan/tabulation"
	"github.com/dprelease/dprelease/spec"
)

// A table by age band can be counted from microdata with ages: each age lies in one band.
func Example() {
	r, err := spec.Parse(spec.Source{Name: "release.yaml", Text: `version: 1
release: ages
privacy: {protects: person, neighbours: add-remove}
budget: {rho: 1/8}
tables:
  persons:
    source: {csv: persons.csv}
    unit: row
    columns:
      age: {type: integer, range: [0, 5], levels: {band: {width: 3}}}
      sex: {values: [female, male]}
marginals: {bands: {by: [age.band]}, sexes: {by: [age, sex]}}
`})
	if err != nil {
		panic(err)
	}
	p, err := planner.New(r)
	if err != nil {
		panic(err)
	}
	columns := []plan.Factor{{Attribute: "age", Basis: plan.Identity}, {Attribute: "sex", Basis: plan.Identity}}
	for _, t := range tabulation.Tables(p.Plan(), plan.Synthetic{Table: "persons", By: columns}) {
		for _, column := range t.By {
			fmt.Println(p.Tables[t.Table].Path, "by column", column.Column, column.CategoryOf)
		}
	}
	// Output:
	// bands by column 0 [0 0 0 1 1 1]
	// sexes by column 0 [0 1 2 3 4 5]
	// sexes by column 1 [0 1]
}
