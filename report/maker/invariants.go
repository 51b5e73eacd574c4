package maker

import (
	"fmt"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/synth"
)

// This file checks published counts that are public figures.

// checkPublicFlags returns an error unless the cells flagged as public figures are exactly those that an invariant
// decides by the plan: all possible cells of such a table, and no cell of any other.
func checkPublicFlags(planned plan.Table, s synth.Statistic) error {
	var n int64
	for _, flag := range s.Flags {
		if flag == synth.Public {
			n++
		}
	}
	if planned.Invariant != "" && n != planned.Cells-planned.Impossible || planned.Invariant == "" && n > 0 {
		return fmt.Errorf("%s are marked as public figures, which is not what the plan says", budget.Plural(n, "cell"))
	}
	return nil
}
