package attributes_test

import (
	"fmt"

	"github.com/dprelease/dprelease/plan/attributes"
	"github.com/dprelease/dprelease/spec"
)

// Rows are counted by age band where a table shows the group that bands decide, and each age lies in one band.
func Example() {
	release, err := spec.Parse(spec.Source{Name: "release.yaml", Text: `version: 1
release: ages
privacy: {protects: person, neighbours: add-remove}
budget: {epsilon: 1}
tables:
  persons:
    source: {csv: persons.csv}
    unit: row
    columns:
      age: {type: integer, range: [0, 5], levels: {band: {width: 3}}}
      group: {derived_from: age.band}
marginals: {groups: {by: [group]}}
`})
	if err != nil {
		panic(err)
	}
	persons := release.Table("persons")
	fmt.Println(attributes.Counted(persons, spec.Attribute{Column: "group"}))
	fmt.Println(attributes.CoarserCategories(persons, spec.Attribute{Column: "age"},
		spec.Attribute{Column: "age", Level: "band"}))
	// Output:
	// age.band
	// [0 0 0 1 1 1] true
}
