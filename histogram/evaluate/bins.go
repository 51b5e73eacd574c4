package evaluate

import (
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/spec"
)

// This file holds bins of values, which are not compared with the truth.

// ranked asks for every value of the rows where a measurement asks for bins of them: truth knows no bins.
func ranked(m plan.Measurement, f plan.Figure, r *spec.Release) plan.Measurement {
	if d, ok := m.Query.Counted.(counted.Bins); ok {
		m.Query.Counted = counted.Quantiles{Column: d.Column, Weight: d.Weight, At: []string{f.At}}
		m.Cells /= d.PerCell(r.Table(m.Query.Table))
	}
	return m
}
