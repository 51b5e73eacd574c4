package workload_test

import (
	"fmt"

	"github.com/dprelease/dprelease/plan/workload"
	"github.com/dprelease/dprelease/spec"
)

// List what a release asks for: its tables with their cells, and the sensitivity of their counts.
func Example() {
	r, err := spec.Parse(spec.Source{Name: "release.yaml", Text: `version: 1
release: pets
privacy: {protects: household, neighbours: replace}
budget: {epsilon: 1}
tables:
  town:
    source: {csv: town.csv}
    unit: {id: household, max_rows: 2}
    columns: {pet: {values: [cat, dog, none]}, home: {values: [house, flat]}}
marginals: {pets: {every: [1, 2], by: [pet, home]}}
`})
	if err != nil {
		panic(err)
	}
	tables, err := workload.Expand(r)
	if err != nil {
		panic(err)
	}
	for _, t := range tables {
		fmt.Println(t.Path, "has", t.Cells, "cells; one unit moves their counts by", t.Unit(r).Counts().L1, "together")
	}
	// Output:
	// pets/pet has 3 cells; one unit moves their counts by 4 together
	// pets/home has 2 cells; one unit moves their counts by 4 together
	// pets/pet_x_home has 6 cells; one unit moves their counts by 4 together
}
