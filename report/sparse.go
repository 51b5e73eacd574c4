package report

// This file holds tables of the cells above a threshold.

// hasThreshold reports whether a table shows the cells above a threshold alone.
func hasThreshold(t Table) bool { return t.Sparse != nil }

// SparseIn are the sparse ones of some tables.
func SparseIn(tables []Table) []Table { return Those(tables, hasThreshold) }
