package evaluate

import (
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/spec"
)

// This file holds bins of values, which are not compared with the truth.

// asRanks replaces a question for bins of values by one for every value: the truth has no bins.
func asRanks(m plan.Measurement, f plan.Figure, r *spec.Release) plan.Measurement {
	if d, ok := m.Query.Counted.(counted.Bins); ok {
		m.Query.Counted = counted.Quantiles{Column: d.Column, Weight: d.Weight, At: []string{f.At}}
		m.Cells /= d.PerCell(r.Table(m.Query.Table))
	}
	return m
}
