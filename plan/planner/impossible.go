package planner

import (
	"fmt"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan/workload"
)

// This file describes impossible cells in the trace of the planner.

// impossibleText says how many cells of a table are impossible, "" if none is.
func impossibleText(t *workload.Table) string {
	if t.Impossible == 0 {
		return ""
	}
	return fmt.Sprintf(", %s of them impossible", budget.Group(t.Impossible))
}
