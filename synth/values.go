package synth

import (
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/counted"
)

// valuesOf is what a query adds up that is of the sums of a column's values.
func valuesOf(q plan.Query) counted.Values { return q.Counted.(counted.Values) }
