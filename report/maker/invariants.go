package maker

import (
	"fmt"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/synth"
)

// This file holds public figures that published counts are.

// flaggedPublic fails unless just those tables have cells that are marked as public figures which the plan says an
// invariant decides, and all but what cannot be is so there.
func flaggedPublic(planned plan.Table, s synth.Statistic) error {
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
