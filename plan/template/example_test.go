package template_test

import (
	"fmt"

	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/planner"
	"github.com/dprelease/dprelease/plan/template"
	"github.com/dprelease/dprelease/spec"
)

const text = `version: 1
params: {year: {pattern: '20\d\d'}}
release: pets-${year}
privacy: {protects: household, neighbours: add-remove}
budget: {epsilon: 1}
tables: {town: {source: {csv: "town-${year}.csv"}, unit: row, columns: {pet: {values: [cat, dog]}}}}
marginals: {pets: {by: [pet]}}
`

// planOf plans the release of a year.
func planOf(year string) *compiled.Compiled {
	r, err := spec.Parse(spec.Source{Name: "release.yaml", Text: text, Params: map[string]string{"year": year}})
	if err != nil {
		panic(err)
	}
	c, err := planner.New(r)
	if err != nil {
		panic(err)
	}
	return c
}

// Who approved the template of last year's plan has approved this year's.
func Example() {
	last, this := planOf("2025"), planOf("2026")
	fmt.Println(last.Hash() == this.Hash(), template.Hash(last.Plan()) == template.Hash(this.Plan()))
	// Output: false true
}
