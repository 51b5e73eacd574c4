package notes_test

import (
	"fmt"

	"github.com/dprelease/dprelease/plan/planner"
	"github.com/dprelease/dprelease/report/notes"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/language"
)

// Say in plain sentences what a plan promises.
func Example() {
	r, err := spec.Parse(spec.Source{Name: "release.yaml", Text: `version: 1
release: pets
privacy: {protects: household, neighbours: add-remove}
budget: {epsilon: 1}
tables: {town: {source: {csv: town.csv}, unit: row, columns: {pet: {values: [cat, dog]}}}}
marginals: {pets: {by: [pet]}}
`})
	if err != nil {
		panic(err)
	}
	p, err := planner.New(r)
	if err != nil {
		panic(err)
	}
	promise, err := notes.Guarantee(language.English, p.Plan(), nil)
	if err != nil {
		panic(err)
	}
	fmt.Println(promise.Definition, promise.Neighbours)
	fmt.Printf("%.100s…\n", notes.FactorSentence(language.English, promise))
	// Output:
	// pure add-remove
	// Adding or removing any one household changes the chance of any result by a factor of at most 2.72 (e…
}
