package evaluate

import "github.com/dprelease/dprelease/plan"

// This file tells which tables recounting the truth does not reproduce.

// countsExcluded reports whether a table counts what bounds and policies exclude.
func countsExcluded(t plan.Table) bool { return !t.Counts.IsZero() }
