package synth

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/residual"
)

// This file holds the trace: the noisy integers that a figure is made of, with their weights.

// Bearing is a measurement that a sum of cells rests on.
type Bearing struct {
	Measurement plan.Measurement
	// Weights are those with which its integers enter, by size, largest first; integers with none are left out.
	Weights []Weight
	// Variance is what its noise adds to that of the sum.
	Variance float64
}

// Weight is a weight that some integers have.
type Weight struct {
	Value    float64 `json:"weight"`
	Integers int64   `json:"integers"`
}

// Trace is where a figure comes from.
type Trace struct {
	Bearings []Bearing
	// Sums are, by bearing, Σ weight × noisy integer: together they are the unbiased estimate.
	Sums []float64
}

// alikeWeights is by how much weights differ, relatively, that are shown as one: more than what rounding makes of equal
// ones, and less than what any reader can see.
const alikeWeights = 1e-9

// Bearings are the measurements that a sum of cells rests on: those whose category of each key is selected. Measurements
// that cancel out of it are left out.
func (r *Reader) Bearings(table int, selected [][]int) []Bearing {
	var out []Bearing
	r.each(table, selected, true, func(m plan.Measurement, weights []float64, integers []int64) {
		b := Bearing{Measurement: m}
		var squares float64
		for i, w := range weights {
			b.Weights = append(b.Weights, Weight{w, integers[i]})
			squares += float64(float64(w*w) * float64(integers[i]))
		}
		b.Weights, b.Variance = gathered(b.Weights), float64(squares*m.Mechanism.Variance())
		out = append(out, b)
	})
	return withoutNothing(out)
}

// Trace finds the measurements behind a sum of cells, and adds up what each brings. It fails where one is missing.
func (r *Reader) Trace(table int, selected [][]int, answers []measured.Measured) (*Trace, error) {
	byID := make(map[string]measured.Measured, len(answers))
	for _, m := range answers {
		byID[m.Measurement.ID] = m
	}
	t := &Trace{Bearings: r.Bearings(table, selected)}
	sums := map[string]float64{}
	var missing error
	r.each(table, selected, false, func(m plan.Measurement, weights []float64, _ []int64) {
		noisy, ok := byID[m.ID]
		if !ok || noisy.Values.Len() != len(weights) {
			missing = fmt.Errorf("measurement %s is missing, or not whole", m.ID)
			return
		}
		for i, w := range weights {
			sums[m.ID] += float64(w * float64(noisy.Values.Value(i)))
		}
	})
	for _, b := range t.Bearings {
		t.Sums = append(t.Sums, sums[b.Measurement.ID])
	}
	return t, missing
}

// withoutNothing leaves out the measurements whose noise is no part of the sum: less of it than rounding makes.
func withoutNothing(all []Bearing) []Bearing {
	var variance float64
	for _, b := range all {
		variance += b.Variance
	}
	return slices.DeleteFunc(all, func(b Bearing) bool { return !(b.Variance > variance*1e-24) })
}

// gathered puts equal weights together, largest first, and leaves out those that are nothing beside the largest.
func gathered(weights []Weight) []Weight {
	slices.SortStableFunc(weights, func(a, b Weight) int {
		if c := cmp.Compare(math.Abs(b.Value), math.Abs(a.Value)); c != 0 {
			return c
		}
		return cmp.Compare(b.Value, a.Value)
	})
	var out []Weight
	for _, w := range weights {
		if math.Abs(w.Value) <= math.Abs(weights[0].Value)*alikeWeights*1e-3 {
			break
		}
		alike := slices.IndexFunc(out[max(0, len(out)-2):], func(o Weight) bool {
			return math.Abs(o.Value-w.Value) <= math.Abs(o.Value)*alikeWeights
		})
		if alike < 0 {
			out = append(out, w)
			continue
		}
		out[max(0, len(out)-2)+alike].Integers += w.Integers
	}
	return out
}

// each tells of the weights that a sum of cells gives to the integers of every measurement that it may rest on: one by one,
// or those of equal weights by their axes together, with how many they are.
func (r *Reader) each(table int, selected [][]int, together bool, tell func(m plan.Measurement, weights []float64, integers []int64)) {
	at := r.at[table]
	if at.estimate < 0 {
		m := r.Needed(table)[0]
		levels, _ := m.Query.Levels(r.plan.Release())
		weights, integers, impossible := []float64{1}, []int64{1}, r.impossible(m)
		for i, s := range selected {
			x := newStretch(indicator(s, levels[i].Size()), together && impossible == nil)
			weights, integers = outer(weights, x.values), counted(integers, x.integers)
		}
		if impossible != nil {
			weights, integers = withoutImpossible(weights, impossible, together)
		}
		tell(m, weights, integers)
		return
	}
	e := &r.estimates[at.estimate]
	axes := e.Axes[at.marginal]
	sum := selection{estimate: e, marginal: at.marginal, axes: axes, selected: selected}
	for _, a := range axes {
		sum.ladders = append(sum.ladders, ladder(e.Columns, a))
	}
	for source, m := range e.Sources {
		if weights, integers := sum.weights(source, together); weights != nil {
			tell(m, weights, integers)
		}
	}
}

// selection is a sum of cells of a table that is put together: those whose category of each key is selected.
type selection struct {
	estimate *plan.Estimate
	marginal int
	axes     residual.Set
	ladders  [][]rung
	selected [][]int
}

// stretch is an axis of a measurement with the weights along it, and how many integers have each.
type stretch struct {
	values   []float64
	integers []int64
}

// newStretch lists weights one by one, or equal ones together.
func newStretch(values []float64, together bool) stretch {
	var out stretch
	at := map[float64]int{}
	for _, v := range values {
		i, ok := at[v]
		if !ok || !together {
			i = len(out.values)
			at[v] = i
			out.values, out.integers = append(out.values, v), append(out.integers, 0)
		}
		out.integers[i]++
	}
	return out
}

// indicator is 1 where a category is selected.
func indicator(selected []int, size int) []float64 {
	out := make([]float64, size)
	for _, s := range selected {
		out[s] = 1
	}
	return out
}

// counted are the products of all of one list with all of another, the latter fastest.
func counted(a, b []int64) []int64 {
	out := make([]int64, 0, len(a)*len(b))
	for _, x := range a {
		for _, y := range b {
			out = append(out, x*y)
		}
	}
	return out
}

// weights are those of the sum on the integers of one source, nil where it does not bear on the table.
//
// The sum takes from every residual of the table the coefficients of its ladders, and from the source's own figure of
// that residual its part. That figure is centred: as centring is symmetric, the weights on the integers are the centred
// coefficients, the same for all categories of an axis that the residual leaves out.
func (s selection) weights(source int, together bool) (weights []float64, integers []int64) {
	e, from := s.estimate, s.estimate.Places[source]
	own := from.Axes
	parts := map[int]float64{} // of the residuals of the table that rest on the source
	for _, res := range e.Of(s.marginal) {
		for _, p := range e.Parts[res] {
			if p.Source == source {
				parts[res] = p.Weight
			}
		}
	}
	if len(parts) == 0 {
		return nil, nil
	}
	stretches := make([]stretch, len(own))
	integers = []int64{1}
	for i, a := range own {
		stretches[i] = newStretch(s.along(a, !from.Plain[i]), together)
		integers = counted(integers, stretches[i].integers)
	}
	for _, res := range e.Of(s.marginal) {
		part, ok := parts[res]
		if !ok {
			continue
		}
		of, term := e.Residuals[res].Axes, []float64{part}
		for k, a := range s.axes {
			if levelIn(of, a) == 0 {
				term[0] = float64(term[0] * s.ladders[k][0].sum(s.selected[k]))
			}
		}
		for k, a := range own {
			values := stretches[k].values
			if levelIn(of, a) == 0 {
				values = slices.Repeat([]float64{1}, len(values))
			}
			term = outer(term, values)
		}
		if weights == nil {
			weights = make([]float64, len(term))
		}
		for j, w := range term {
			weights[j] += w
		}
	}
	return weights, integers
}

// along are the weights along an axis of a source; all are the same where the table does not have it.
func (s selection) along(axis residual.Axis, scaled bool) []float64 {
	for k, a := range s.axes {
		if a.Column == axis.Column {
			return s.ladders[k][axis.Level].weights(s.selected[k], scaled)
		}
	}
	return make([]float64, s.estimate.Columns[axis.Column].Size(axis.Level))
}
