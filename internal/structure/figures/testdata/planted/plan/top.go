package plan

import "planted/spec"

// Most is in the file of its kind, where it may test for it, and for no other.
func Most(m spec.Marginal) int {
	if m.Top == nil || m.Above == 0 {
		return 0
	}
	return *m.Top
}
