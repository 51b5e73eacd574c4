package selection_test

import (
	"fmt"

	"github.com/dprelease/dprelease/plan/selection"
)

// Only noisy counts above 40 are given out, which costs nothing in addition to their noise.
func Example() {
	above := selection.Above{Threshold: 40}
	fmt.Println("above", selection.Threshold(above), "at the cost of", len(above.Steps()), "more mechanisms")
	fmt.Println(selection.Above{Threshold: 0}.Check())
	// Output:
	// above 40 at the cost of 0 more mechanisms
	// there is no such threshold
}
