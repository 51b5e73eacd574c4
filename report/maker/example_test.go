package maker_test

import (
	"encoding/json"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/planner"
	"github.com/dprelease/dprelease/report/maker"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/synth"
)

const text = `version: 1
release: pets
privacy: {protects: household, neighbours: add-remove, account: town}
budget: {epsilon: 1}
tables: {town: {source: {csv: town.csv}, unit: row, columns: {pet: {values: [cat, dog]}}}}
marginals: {pets: {by: [pet]}}
`

// compilePlan returns the plan of the release.
func compilePlan() *compiled.Compiled {
	r, err := spec.Parse(spec.Source{Name: "release.yaml", Text: text})
	if err != nil {
		panic(err)
	}
	p, err := planner.New(r)
	if err != nil {
		panic(err)
	}
	return p
}

// publishTables returns the tables of the release, made from their noisy counts.
func publishTables(p *compiled.Compiled, noisy ...int64) []synth.Table {
	b := array.NewInt64Builder(memory.DefaultAllocator)
	b.AppendValues(noisy, nil)
	counts := measured.Measured{Measurement: p.Measurements[0], Values: b.NewInt64Array()}
	tables, err := synth.Estimate(&measured.Sealed{Plan: p, Measured: []measured.Measured{counts}})
	if err != nil {
		panic(err)
	}
	return tables
}

// Make the report of a release from its plan, its published tables and the ledger's receipt.
func Example() {
	p := compilePlan()
	receipt := fmt.Sprintf(`{"account": "town", "release": "pets", "plan_hash": %q, "status": "release",
		"cost": {"epsilon": "1"}, "date": "2026-03-01", "number": 7}`, p.Hash())
	r, err := maker.New(maker.Input{Plan: p, Tables: publishTables(p, 812, 94), Receipt: json.RawMessage(receipt),
		Software: "dprelease 0.1.0"})
	if err != nil {
		panic(err)
	}
	fmt.Println(r.Release, r.Date, r.Guarantee.Definition, "ε =", r.Guarantee.Epsilon)
	fmt.Printf("table %s: within ±%g\n", r.Tables[0].Path, r.Tables[0].Statistics[0].Margin)
	// Output:
	// pets 2026-03-01 pure ε = 1
	// table pets: within ±3
}
