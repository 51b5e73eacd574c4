package report

// This file holds the cells that no row can be in.

// RulesOut reports whether the spec declares cells of the table impossible.
func (t Table) RulesOut() bool { return t.Impossible > 0 }
