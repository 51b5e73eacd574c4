package synth

import (
	"fmt"

	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/residual"
)

// This file holds the trace: the noisy integers that a figure is made of, with their weights.

// Trace is where a figure comes from.
type Trace struct {
	Bearings []compiled.Bearing
	// Sums are, by bearing, Σ weight × noisy integer: together they are the unbiased estimate.
	Sums []float64
}

// Bearings are the measurements that a sum of cells rests on: those whose category of each key is selected.
// Measurements that cancel out of it are left out, and nothing bears on what an invariant decides.
func (r *Reader) Bearings(table int, selected [][]int) []compiled.Bearing {
	if r.Held(table) {
		return nil
	}
	if at := r.at[table]; at.estimate >= 0 {
		return r.sum(table, selected).Bearings()
	}
	m := r.sources(table)[0]
	return bearingsOn(m, r.ownWeights(m, selected))
}

// sum is the one of a table that is put together whose categories are selected.
func (r *Reader) sum(table int, selected [][]int) *compiled.Sum {
	at := r.at[table]
	e := &r.estimates[at.estimate]
	q := make([][]float64, len(selected))
	for i, a := range e.Axes[at.marginal] {
		q[i] = indicator(selected[i], e.Columns[a.Column].Size(a.Level))
	}
	return e.Sum(at.marginal, q)
}

// ownWeights are those of a sum of cells of a table that is one measurement: 1 for every cell that is selected, but for
// impossible ones, on which nothing rests.
func (r *Reader) ownWeights(m plan.Measurement, selected [][]int) []float64 {
	levels, _ := m.Query.Levels(r.plan.Release())
	in := make([][]float64, len(selected))
	for i, s := range selected {
		in[i] = indicator(s, levels[i].Size())
	}
	weights := residual.Outer(in...)
	for i, impossible := range r.impossible(m) {
		if impossible {
			weights[i] = 0
		}
	}
	return weights
}

// Trace finds the measurements behind a sum of cells, and adds up what each brings. It fails where one is missing.
func (r *Reader) Trace(table int, selected [][]int, answers []measured.Measured) (*Trace, error) {
	byID := measured.ByID(answers)
	t := &Trace{Bearings: r.Bearings(table, selected)}
	if t.Bearings == nil {
		return t, nil
	}
	weights := map[string][]float64{}
	if at := r.at[table]; at.estimate >= 0 {
		for source, own := range r.sum(table, selected).Weights() {
			weights[r.estimates[at.estimate].Sources[source].ID] = own
		}
	} else {
		m := r.sources(table)[0]
		weights[m.ID] = r.ownWeights(m, selected)
	}
	for _, b := range t.Bearings {
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
