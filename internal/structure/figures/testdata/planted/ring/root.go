package ring

// Root is referred to by no other file.
func Root() int { return A() + A() + thing{}.size }
