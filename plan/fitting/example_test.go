package fitting_test

import (
	"fmt"

	"github.com/dprelease/dprelease/plan/fitting"
	"github.com/dprelease/dprelease/plan/planner"
	"github.com/dprelease/dprelease/spec"
)

// Three tables are made to add up: first what all share, last the finest.
func Example() {
	r, err := spec.Parse(spec.Source{Name: "release.yaml", Text: `version: 1
release: pets
privacy: {protects: household, neighbours: add-remove}
budget: {epsilon: 1}
tables:
  town:
    source: {csv: town.csv}
    unit: row
    columns: {pet: {values: [cat, dog, none]}, home: {values: [house, flat]}}
marginals: {pets: {every: [1, 2], by: [pet, home]}}
publish: {integers: consistent}
`})
	if err != nil {
		panic(err)
	}
	p, err := planner.New(r)
	if err != nil {
		panic(err)
	}
	order, err := fitting.Of(p.Plan(), p.Consistent[0])
	if err != nil {
		panic(err)
	}
	for _, step := range order.Steps {
		fmt.Println(step.Margin, order.Cells(step.Margin), "cells; margins fixed before:", len(step.Fixed))
	}
	// Output:
	// [0 0] 1 cells; margins fixed before: 0
	// [1 0] 3 cells; margins fixed before: 1
	// [0 1] 2 cells; margins fixed before: 1
	// [1 1] 6 cells; margins fixed before: 2
}
