package histogram_test

import (
	"context"
	"fmt"

	"github.com/dprelease/dprelease/budget/ledger"
	"github.com/dprelease/dprelease/histogram"
	"github.com/dprelease/dprelease/histogram/scan"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/plan/planner"
	"github.com/dprelease/dprelease/spec"
)

// Count a table, pay, and measure. Here the ledger is that of a rehearsal, so
// the rows are made up.
func Example() {
	ctx := context.Background()
	r, err := spec.Parse(spec.Source{Name: "pets.yaml", Text: `version: 1
release: pets
privacy: {protects: household, neighbours: add-remove, account: town}
budget: {epsilon: 1}
tables:
  pets: {source: {csv: pets.csv}, unit: row, columns: {kind: {values: [cat, dog, other]}}}
marginals:
  kinds: {by: [kind]}
`})
	if err != nil {
		panic(err)
	}
	p, err := planner.New(r)
	if err != nil {
		panic(err)
	}
	key, err := noise.NewKey()
	if err != nil {
		panic(err)
	}
	streams := noise.NewStreams(key, p.Hash())
	exact, err := histogram.Count(ctx, p, scan.MadeUp{Rows: 1000}, streams)
	if err != nil {
		panic(err)
	}
	fmt.Println(exact)
	receipt, err := ledger.OpenRehearsal().Debit(ctx,
		ledger.Charge{Account: "town", Release: "pets", PlanHash: p.Hash(),
			Terms: ledger.Terms{Protects: "household", Neighbours: "add-remove", Definition: "epsilon"}, Cost: p.Cost,
			Commitment: exact.Commitment(streams)})
	if err != nil {
		panic(err)
	}
	opened, err := exact.Open(receipt, streams)
	if err != nil {
		panic(err)
	}
	kinds, err := opened.Measure(ctx, p.Measurements[0])
	if err != nil {
		panic(err)
	}
	fmt.Println(kinds.Measurement.ID, kinds.Values.Len())
	// Output:
	// confidential
	// kinds 3
}
