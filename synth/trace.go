package synth

import (
	"fmt"

	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/residual"
)

// This file holds the trace: the noisy integers from which a figure is computed, with their weights.

// Trace says where a figure comes from.
type Trace struct {
	Contributions []compiled.Contribution
	// Sums are, by contribution, Σ weight × noisy integer: together they are the unbiased estimate.
	Sums []float64
}

// Contributions returns the measurements that contribute to a sum of cells: those whose category of each key is
// selected. It leaves out measurements that cancel; a table that an invariant decides has no contributions.
func (r *Reader) Contributions(table int, selected [][]int) []compiled.Contribution {
	if r.IsInvariant(table) {
		return nil
	}
	if at := r.at[table]; at.estimate >= 0 {
		return r.selectedSum(table, selected).Contributions()
	}
	m := r.sourcesOf(table)[0]
	return bearingsOn(m, r.ownWeights(m, selected))
}

// selectedSum returns the sum of a reconstructed table over the selected categories.
func (r *Reader) selectedSum(table int, selected [][]int) *compiled.Sum {
	at := r.at[table]
	e := &r.estimates[at.estimate]
	q := make([][]float64, len(selected))
	for i, a := range e.Axes[at.marginal] {
		q[i] = indicator(selected[i], e.Columns[a.Column].Size(a.Level))
	}
	return e.Sum(at.marginal, q)
}

// ownWeights returns the weights of a sum of cells of a table that is one measurement: 1 for every selected cell that
// is possible.
func (r *Reader) ownWeights(m plan.Measurement, selected [][]int) []float64 {
	levels, _ := m.Query.Levels(r.plan.Release())
	in := make([][]float64, len(selected))
	for i, s := range selected {
		in[i] = indicator(s, levels[i].Size())
	}
	weights := residual.Outer(in...)
	for i, impossible := range r.impossibleCells(m) {
		if impossible {
			weights[i] = 0
		}
	}
	return weights
}

// Trace finds the measurements that contribute to a sum of cells, and adds up each contribution. It returns an error if
// one is missing.
func (r *Reader) Trace(table int, selected [][]int, answers []measured.Measured) (*Trace, error) {
	byID := measured.ByID(answers)
	t := &Trace{Contributions: r.Contributions(table, selected)}
	if t.Contributions == nil {
		return t, nil
	}
	weights := map[string][]float64{}
	if at := r.at[table]; at.estimate >= 0 {
		for source, own := range r.selectedSum(table, selected).Weights() {
			weights[r.estimates[at.estimate].Sources[source].ID] = own
		}
	} else {
		m := r.sourcesOf(table)[0]
		weights[m.ID] = r.ownWeights(m, selected)
	}
	for _, b := range t.Contributions {
		own := weights[b.Measurement.ID]
		noisy, ok := byID[b.Measurement.ID]
		if !ok || noisy.Values.Len() != len(own) {
			return nil, fmt.Errorf("measurement %s is missing, or not whole", b.Measurement.ID)
		}
		var sum float64
		for i, w := range own {
			sum += float64(w * float64(noisy.Values.Value(i)))
		}
		t.Sums = append(t.Sums, sum)
	}
	return t, nil
}
