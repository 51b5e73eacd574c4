package impossible_test

import (
	"fmt"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/impossible"
	"github.com/dprelease/dprelease/spec"
)

// No child is married: that cell of the table is an exact zero, and is never measured.
func Example() {
	release, err := spec.Parse(spec.Source{Name: "release.yaml", Text: `version: 1
release: families
privacy: {protects: person, neighbours: add-remove}
budget: {epsilon: 1}
tables:
  persons:
    source: {csv: persons.csv}
    unit: row
    columns: {age: {values: [child, adult]}, status: {values: [single, married]}}
impossible: [{where: {age: child, status: married}, rows: drop}]
marginals: {families: {by: [age, status]}}
`})
	if err != nil {
		panic(err)
	}
	cells, err := impossible.Of(plan.MarginalOf("persons", release.Marginals[0].By), release)
	if err != nil {
		panic(err)
	}
	fmt.Println(cells.Count(), "impossible:", cells.Cells())
	// Output:
	// 1 impossible: [false true false false]
}
