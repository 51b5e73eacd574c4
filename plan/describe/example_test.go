package describe_test

import (
	"fmt"

	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/describe"
	"github.com/dprelease/dprelease/plan/planner"
	"github.com/dprelease/dprelease/spec"
)

// planOf plans the release of a budget.
func planOf(epsilon string) *compiled.Compiled {
	r, err := spec.Parse(spec.Source{Name: "release.yaml", Text: `version: 1
release: pets
privacy: {protects: household, neighbours: add-remove}
budget: {epsilon: ` + epsilon + `}
tables: {town: {source: {csv: town.csv}, unit: row, columns: {pet: {values: [cat, dog, none]}}}}
marginals: {pets: {by: [pet]}}
`})
	if err != nil {
		panic(err)
	}
	c, err := planner.New(r)
	if err != nil {
		panic(err)
	}
	return c
}

// Say in words what a plan promises, and what changes with a larger budget.
func Example() {
	small, large := planOf("1"), planOf("2")
	fmt.Println(describe.Budget(small.Guarantee))
	for _, change := range describe.Diff(small, large).Changes {
		if change.Topic == describe.OnTable {
			fmt.Printf("%s, %s: %s → %s\n", change.Subject, change.What, change.Before, change.After)
		}
	}
	// Output:
	// ε = 1
	// pets, scale: t = 1 → t = 0.5
	// pets, standard error: 1.357 → 0.6017
	// pets, 95% margin: ±3 → ±1
}
