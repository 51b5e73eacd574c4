package fitting

import "github.com/dprelease/dprelease/plan"

// hasImpossible reports whether some cells of a table are exact zeros by the spec.
func hasImpossible(t plan.Table) bool { return t.Impossible > 0 }

// masked reports whether some cells of a step are exact zeros.
func (s Step) masked() bool { return s.Impossible }
