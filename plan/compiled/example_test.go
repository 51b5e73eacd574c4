package compiled_test

import (
	"fmt"

	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/planner"
	"github.com/dprelease/dprelease/spec"
)

const text = `version: 1
release: pets
privacy: {protects: household, neighbours: add-remove}
budget: {rho: 1/8}
tables:
  town:
    source: {csv: town.csv}
    unit: row
    columns: {pet: {values: [cat, dog, none]}, home: {values: [house, flat]}}
marginals: {pets: {every: [1, 2], by: [pet, home]}}
`

// Read a plan.json, and list the measurements that contribute to each of its tables.
func Example() {
	r, err := spec.Parse(spec.Source{Name: "release.yaml", Text: text})
	if err != nil {
		panic(err)
	}
	planned, err := planner.New(r)
	if err != nil {
		panic(err)
	}
	c, err := compiled.Read(planned.Bytes())
	if err != nil {
		panic(err)
	}
	behind, err := c.MeasurementsByTable()
	if err != nil {
		panic(err)
	}
	for i, t := range c.Plan().Tables {
		fmt.Print(t.Path, ":")
		for _, m := range behind[i] {
			fmt.Print(" ", m.ID)
		}
		fmt.Println()
	}
	// Output:
	// pets/pet: residuals/town/total residuals/town/pet
	// pets/home: residuals/town/total residuals/town/home
	// pets/pet_x_home: residuals/town/total residuals/town/pet residuals/town/home residuals/town/pet_x_home
}
