package adaptive_test

import (
	"fmt"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/adaptive"
)

// The rounds of MST choose among the pairs of columns until these join all columns into one tree.
func Example() {
	columns := []plan.Factor{{Attribute: "age"}, {Attribute: "sex"}, {Attribute: "work"}}
	microdata := plan.Synthetic{Method: plan.MST, By: columns, Ways: 2}
	pairs := adaptive.Candidates(microdata)
	fmt.Println(adaptive.JoinCount(microdata), "choices among", pairs)
	forest := adaptive.ForestOf(microdata)
	forest.Join(pairs[0])
	fmt.Println("would join two trees:", forest.WouldJoin(pairs[0]), forest.WouldJoin(pairs[1]))
	// Output:
	// 2 choices among [[0 1] [0 2] [1 2]]
	// would join two trees: false true
}
