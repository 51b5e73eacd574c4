package histogram

// This file holds the impossible cells, which are never measured.

import (
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/impossible"
	"github.com/dprelease/dprelease/spec"
)

// impossibleCells returns, for each cell of a measurement, whether it is impossible; nil if none is.
func impossibleCells(m plan.Measurement, r *spec.Release) ([]bool, error) {
	if m.Impossible <= 0 {
		return nil, nil
	}
	mask, err := impossible.Of(m.Query, r)
	if err != nil {
		return nil, err
	}
	return mask.Cells(), nil
}
