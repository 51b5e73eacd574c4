package synth

import (
	"fmt"
	"math"
	"slices"

	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/residual"
)

// This file holds the reconstruction: tables that are put together from all that was measured of their residuals.

// reconstruction is the estimates of all residuals that the tables of one confidential table need, in units of counts.
type reconstruction struct {
	plan.Estimate
	residuals [][]float64
}

// newReconstruction estimates every residual: each source's own figure of it, weighted as the plan says.
//
// Contract: unbiased, and of the variances that the plan predicts (docs/proofs/residuals.md). It reads noisy integers
// alone.
func newReconstruction(e plan.Estimate, byID map[string]measured.Measured) (*reconstruction, error) {
	r := &reconstruction{Estimate: e, residuals: make([][]float64, len(e.Residuals))}
	noisy := make([][]float64, len(e.Sources))
	for i, m := range e.Sources {
		values, ok := byID[m.ID]
		if !ok {
			return nil, fmt.Errorf("measurement %s is missing", m.ID)
		}
		noisy[i] = make([]float64, values.Values.Len())
		for j, v := range values.Values.Int64Values() {
			noisy[i][j] = float64(v)
		}
	}
	for i, parts := range e.Parts {
		axes := e.Residuals[i].Axes
		for _, part := range parts {
			figure := e.Places[part.Source].Figure(e.Columns, axes, noisy[part.Source])
			if r.residuals[i] == nil {
				r.residuals[i] = make([]float64, len(figure))
			}
			for j, v := range figure {
				r.residuals[i][j] += float64(part.Weight * v)
			}
		}
	}
	return r, nil
}

// statistic puts a table together.
func (r *reconstruction) statistic(marginal int, st plan.Statistic) Statistic {
	axes := r.Axes[marginal]
	cells := make([]float64, int(r.Cells(marginal)))
	for _, i := range r.Of(marginal) {
		residual.Spread(r.Columns, axes, r.Residuals[i].Axes, r.residuals[i], cells)
	}
	errors := r.CellVariances(axes, r.Variances)
	for i, v := range errors {
		errors[i] = math.Sqrt(v)
	}
	most := slices.Max(errors)
	out := newStatistic(st.Name, cells, errors, func(i int) float64 { return float64(st.Margin * (errors[i] / most)) })
	out.StandardError, out.Margin, out.Confidence, out.Attained = st.StandardError, st.Margin, st.Confidence, st.Attained
	return out
}
