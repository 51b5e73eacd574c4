package limit_test

import (
	"fmt"

	"github.com/dprelease/dprelease/plan/limit"
)

// A table of 100 000 × 100 000 × 10 cells is refused before anything is planned.
func Example() {
	cells := int64(100_000) * 100_000 * 10
	fmt.Println(cells <= limit.Cells, cells <= limit.SparseCells)
	// Output: false true
}
