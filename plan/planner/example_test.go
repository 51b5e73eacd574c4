package planner_test

import (
	"fmt"

	"github.com/dprelease/dprelease/plan/describe"
	"github.com/dprelease/dprelease/plan/planner"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/language"
)

func Example() {
	r, err := spec.Parse(spec.Source{Name: "release.yaml", Text: `version: 1
release: pets
privacy: {protects: household, neighbours: add-remove}
budget: {epsilon: 1}
tables: {town: {source: {csv: town.csv}, unit: {id: household, max_rows: 2}, columns: {pet: {values: [cat, dog, none]}}}}
marginals: {pets: {by: [pet]}}
`})
	if err != nil {
		panic(err)
	}
	p, err := planner.New(r)
	if err != nil {
		panic(err)
	}
	m := p.Measurements[0]
	fmt.Println(m.ID, m.Cells, m.Mechanism.Kind, m.Mechanism.Parameter.RatString())
	fmt.Println(describe.ExpectationOf(language.English, p.Plan(), p.Tables[0]))
	// Output:
	// pets 3 discrete-laplace 2
	// Within ±6 of the exact count 19 times in 20: good to 10% for counts of 60 or more; a count of 6 or less could be zero. With fewer than 9 rows in town an average cell is smaller than its own noise.
}
