package synth

import (
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/counted"
)

// valuesOf returns the counted values of a query for sums of a column.
func valuesOf(q plan.Query) counted.Values { return q.Counted.(counted.Values) }
