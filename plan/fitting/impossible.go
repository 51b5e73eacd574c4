package fitting

import "github.com/dprelease/dprelease/plan"

// hasImpossible reports whether some cells of a table are exact zeros by the spec.
func hasImpossible(t plan.Table) bool { return t.Impossible > 0 }

// hasZeros reports whether some cells of a step are exact zeros.
func (s Step) hasZeros() bool { return s.Impossible }
