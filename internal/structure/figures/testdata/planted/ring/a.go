// Package ring has three files that reach each other and two that only use or serve them.
package ring

// A calls b.go.
func A() int { return B(Leaf) }
