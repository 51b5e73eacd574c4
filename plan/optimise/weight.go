package optimise

import (
	"github.com/dprelease/dprelease/plan/workload"
	"github.com/dprelease/dprelease/spec"
)

// unitOf returns what one integer of a table's count stands for: each, or the step of the weights that are added up.
func unitOf(t *workload.Table, confidential *spec.Table, each float64) float64 {
	if t.PartOf == nil && t.Counted.Weighted() {
		each, _ = confidential.WeightStep().Float64()
	}
	return each
}
