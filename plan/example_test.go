package plan_test

import (
	"fmt"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/planner"
	"github.com/dprelease/dprelease/spec"
)

// Read a plan.json, and say what it asks of the confidential table and with which noise.
func Example() {
	release, err := spec.Parse(spec.Source{Name: "release.yaml", Text: `version: 1
release: pets
privacy: {protects: household, neighbours: add-remove}
budget: {epsilon: 1}
tables: {town: {source: {csv: town.csv}, unit: row, columns: {pet: {values: [cat, dog]}}}}
marginals: {pets: {by: [pet]}}
`})
	if err != nil {
		panic(err)
	}
	made, err := planner.New(release)
	if err != nil {
		panic(err)
	}
	p, err := plan.Read(made.Bytes())
	if err != nil {
		panic(err)
	}
	for _, m := range p.Measurements {
		fmt.Println(m.ID, "counts", m.Cells, "cells with", m.Mechanism.Kind, "noise and costs", p.Cost)
	}
	// Output:
	// pets counts 2 cells with discrete-laplace noise and costs ε = 1
}
