package report

import "slices"

// This file holds weighted counts.

// Weighted reports whether some count of a release is a sum of weights.
func Weighted(tables []Table) bool {
	return slices.ContainsFunc(tables, func(t Table) bool { return t.Weighted })
}
