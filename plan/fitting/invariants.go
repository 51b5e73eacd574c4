package fitting

import "github.com/dprelease/dprelease/plan"

// isDecided reports whether an invariant decides a table.
func isDecided(t plan.Table) bool { return t.Invariant != "" }

// othersText names what the tables of a fit agree with, in addition to each other.
func (f *fitter) othersText() string {
	if len(f.invariants) > 0 {
		return "others, or invariants,"
	}
	return "others"
}
