package line

// Second uses nothing.
func Second() int { return 1 }
