// Package line has two files, of which one uses the other.
package line

import "planted/ring"

// First uses the other file, and another package whose file has the same name as this one.
func First() int { return Second() + ring.A() }
