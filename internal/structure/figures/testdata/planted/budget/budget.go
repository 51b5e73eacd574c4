// Package budget has a field that is named as if it were of a marginal.
package budget

// Mechanism is no marginal.
type Mechanism struct{ Weight *int }

// Weighted tests for no kind.
func Weighted(m Mechanism) bool { return m.Weight != nil }
