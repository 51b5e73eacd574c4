package synth

import (
	"fmt"
	"math"
	"slices"

	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/residual"
)

// This file holds the reconstruction: tables that are put together from all measurements of their residuals.

// reconstruction holds the estimates of the residuals that the tables of one confidential table need, in units of
// counts.
type reconstruction struct {
	compiled.Estimate
	noisy     []*array.Int64 // by source
	residuals [][]float64    // nil until a table needs it
}

// newReconstruction takes the measurements that an estimate needs. It returns an error if one is missing or incomplete.
func newReconstruction(e compiled.Estimate, byID map[string]measured.Measured) (*reconstruction, error) {
	r := &reconstruction{Estimate: e, noisy: make([]*array.Int64, len(e.Sources)),
		residuals: make([][]float64, len(e.Residuals))}
	for i, m := range e.Sources {
		values, ok := byID[m.ID]
		if !ok || int64(values.Values.Len()) != m.Cells {
			return nil, fmt.Errorf("measurement %s is missing, or not whole", m.ID)
		}
		r.noisy[i] = values.Values
	}
	return r, nil
}

// residualOf estimates a residual: the figures of its sources, weighted as the plan says.
//
// Contract: unbiased, and of the variances that the plan predicts (docs/proofs/residuals.md). It reads only noisy
// integers.
func (r *reconstruction) residualOf(i int) []float64 {
	if r.residuals[i] != nil { // computed for an earlier table
		return r.residuals[i]
	}
	for k, part := range r.Parts[i] {
		noisy := toFloats(r.noisy[part.Source].Int64Values())
		figure := r.ResidualSources[part.Source].Figure(r.Columns, r.Residuals[i].Axes, noisy)
		if k == 0 {
			r.residuals[i] = make([]float64, len(figure))
		}
		for j, v := range figure {
			r.residuals[i][j] += float64(part.Weight * v)
		}
	}
	return r.residuals[i]
}

// statisticOf reconstructs a table. It removes rounding errors from sums of noisy integers that are whole.
func (r *reconstruction) statisticOf(marginal int, st plan.Statistic) Statistic {
	axes := r.Axes[marginal]
	cells := r.shownCells(marginal, axes)
	if r.IsUnweightedSum(marginal) {
		for i, v := range cells {
			cells[i] = math.Floor(v + 0.5)
		}
	}
	errors := r.CellVariances(axes, r.Variances)
	for i, v := range errors {
		errors[i] = math.Sqrt(v)
	}
	if unit := st.UnitValue(); unit != 1 {
		for i := range cells {
			cells[i], errors[i] = float64(unit*cells[i]), float64(unit*errors[i])
		}
	}
	most := slices.Max(errors)
	out := newStatistic(st.Name, cells, errors, func(i int) float64 { return compiled.MarginOf(st, errors[i], most) })
	out.StandardError, out.Margin, out.Confidence, out.Attained = st.StandardError, st.Margin, st.Confidence,
		st.Attained
	return out
}

// shownCells returns what a marginal shows along these axes.
func (r *reconstruction) shownCells(marginal int, axes residual.Set) []float64 {
	cells := make([]float64, int(r.Cells(marginal)))
	for _, i := range r.ResidualsOf(marginal) {
		residual.Spread(r.Columns, axes, r.Residuals[i].Axes, r.residualOf(i), cells)
	}
	return cells
}
