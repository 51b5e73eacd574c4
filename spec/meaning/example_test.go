package meaning_test

import (
	"fmt"

	"github.com/dprelease/dprelease/spec/meaning"
)

// Look up what a key does. In a path * stands for a name that the spec chooses.
func Example() {
	keys := meaning.Keys()
	fmt.Println(keys["budget.rho"].States)
	fmt.Println("without it:", keys["budget.rho"].Default)
	fmt.Println(keys["tables.*.unit.max_rows"].Page)
	// Output:
	// ρ of zero-concentrated differential privacy.
	// without it: the budget is in epsilon
	// docs/spec.md#the-contract-of-a-table
}
