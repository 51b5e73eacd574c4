package report

// This file holds tables of the cells above a threshold.

// hasThreshold reports whether a table shows only the cells above a threshold.
func hasThreshold(t Table) bool { return t.Sparse != nil }

// SparseIn returns the sparse tables among some tables.
func SparseIn(tables []Table) []Table { return TablesWhere(tables, hasThreshold) }
