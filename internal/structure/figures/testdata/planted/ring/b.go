package ring

// B calls a method of c.go.
func B(n int) int { return thing{size: n}.grow() + Leaf }
