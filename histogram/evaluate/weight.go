package evaluate

import (
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/counted"
)

// This file holds what each row of a table counts as.

// rowsOf returns what a table counts of its rows: their weights, or each as 1.
func rowsOf(t plan.Table) counted.Counted {
	if t.Weighted {
		return counted.Values{Weight: true}
	}
	return counted.Rows{}
}
