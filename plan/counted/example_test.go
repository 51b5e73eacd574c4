package counted_test

import (
	"fmt"

	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/spec"
)

// How far can one unit of at most three rows move the counts of a table of twelve cells?
func Example() {
	table := &spec.Table{Unit: spec.Unit{ID: "person_id", MaxRows: 3}}
	for _, n := range []spec.Neighbours{spec.AddRemove, spec.Replace} {
		s, err := counted.Rows{}.Sensitivity(counted.Unit{Table: table, Neighbours: n, Cells: 12})
		fmt.Println(n, "L1:", s.L1, "squared L2:", s.L2Squared, err)
	}
	// Output:
	// add-remove L1: 3 squared L2: 9 <nil>
	// replace L1: 6 squared L2: 18 <nil>
}
