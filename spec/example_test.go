package spec_test

import (
	"fmt"

	"github.com/dprelease/dprelease/spec"
)

func Example() {
	release, err := spec.Parse(spec.Source{Name: "release.yaml", Text: `
version: 1
release: commuting-2026
privacy: {protects: person, neighbours: add-remove}
budget: {epsilon: 1}
tables:
  persons:
    source: {csv: persons.csv}
    unit: {id: person_id, max_rows: 1}
    columns:
      age:  {type: integer, range: [0, 110], levels: {band: {edges: [0, 16, 65]}}}
      mode: {values: [car, train, bicycle], unknown: drop}
marginals:
  modes: {by: [age.band, mode]}
`})
	if err != nil {
		fmt.Println(err)
		return
	}
	age := release.Table("persons").Column("age").Domain
	band, _ := age.Level("band")
	code, fit := age.CodeOfInt(39)
	fmt.Println(release.Marginals[0].By, band.Categories[band.CategoryOf[code]].Code, fit)
	// Output: [age.band mode] 16–64 in its domain
}

func ExampleParse_problem() {
	_, err := spec.Parse(spec.Source{Name: "release.yaml", Text: `version: 1
release: trips
privacy: {protects: trip, neighbours: add-remove}
budget: {epsilon: 1}
tables:
  trips:
    source: {csv: trips.csv}
    unit: row
    columns:
      mode: {valeus: [car, train]}
marginals:
  modes: {by: [mode]}
`})
	fmt.Println(err)
	// Output:
	// release.yaml:10:14: tables.trips.columns.mode.valeus: unknown key "valeus"
	//    10 |       mode: {valeus: [car, train]}
	//       |              ^
	//   expected: one of from, type, values, codebook, map, range, grid, step, levels, unknown, null, bounds, derived_from, title, measured_in, labels, level_titles, level_labels
	//   did you mean "values"?
	//   fix: mode: {values: [car, train]}
}
