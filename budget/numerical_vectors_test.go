package budget

import "testing"

// numericalKinds maps the kinds of case that compositions of loss distributions
// compute to how: the figure, or a map or list of figures as the case has it.
var numericalKinds = map[string]func(t *testing.T, v vector) any{}

var _ = numericalKinds
