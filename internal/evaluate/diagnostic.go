package evaluate

import "github.com/dprelease/dprelease/plan"

// This file holds which tables the truth does not tell again.

// countsLeftOut reports whether a table counts what bounds and policies leave out.
func countsLeftOut(t plan.Table) bool { return t.Counts != "" }
