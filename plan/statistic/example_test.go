package statistic_test

import (
	"fmt"

	"github.com/dprelease/dprelease/plan/statistic"
	"github.com/dprelease/dprelease/spec"
)

// A table of mean pay needs the sum of pay measured in addition to its count, and shows one figure.
func Example() {
	r, err := spec.Parse(spec.Source{Name: "release.yaml", Text: `version: 1
release: pay
privacy: {protects: person, neighbours: add-remove}
budget: {rho: 1/8}
tables:
  persons:
    source: {csv: persons.csv}
    unit: row
    columns:
      sex: {values: [female, male]}
      pay: {type: integer, range: [0, 5000], step: 50}
marginals: {pay: {by: [sex], stats: [count, {mean: pay}]}}
`})
	if err != nil {
		panic(err)
	}
	m := &r.Marginals[0]
	table, pay := statistic.Table{Release: r, Path: m.Name, Marginal: m, By: m.By, CountedBy: m.By}, m.Stats[1]
	mean := statistic.Of(pay.Kind)
	parts, err := mean.Parts(table, pay)
	if err != nil {
		panic(err)
	}
	for _, f := range mean.Figures(table, pay) {
		fmt.Println(f.Name+statistic.Published, f.Name+statistic.StandardError, "from", parts[0].Name)
	}
	// Output:
	// pay_mean pay_mean_noise_se from pay_sums
}
