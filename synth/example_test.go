package synth_test

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/planner"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/synth"
)

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
	b := array.NewInt64Builder(memory.DefaultAllocator)
	b.AppendValues([]int64{812, -1}, nil)
	tables, err := synth.Estimate(&measured.Sealed{Plan: compiled.Of(p.Plan()),
		Measured: []measured.Measured{{Measurement: p.Measurements[0], Values: b.NewInt64Array()}}})
	if err != nil {
		panic(err)
	}
	count := tables[0].Statistics[0]
	for row := range tables[0].Cells {
		fmt.Printf("%s %d (%g to %g) %q\n", tables[0].Category(row, 0).Code, count.Published.Value(row),
			count.Low.Value(row),
			count.High.Value(row), count.Flags[row])
	}
	// Output:
	// cat 812 (809 to 815) ""
	// dog 0 (-4 to 2) "noise_dominates"
}
