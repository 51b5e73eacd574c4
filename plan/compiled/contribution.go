package compiled

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/residual"
)

// This file holds the contributions of measurements: the weights of a sum of cells on the noisy integers of every
// measurement.

// Contribution is what a measurement contributes to a sum of cells.
type Contribution struct {
	Measurement plan.Measurement
	// Weights are the weights of its integers, largest first; integers of weight zero are left out.
	Weights []Weight
	// Variance is what its noise adds to the variance of the sum.
	Variance float64
}

// Weight is a weight that some integers have.
type Weight struct {
	Value    float64 `json:"weight"`
	Integers int64   `json:"integers"`
}

// equalWeights is the relative difference up to which weights count as equal: more than the rounding errors of equal
// weights, and less than any reader can see.
const equalWeights = 1e-9

// NewContribution returns the contribution of a measurement, with equal weights merged; integers says how many integers
// have each weight.
func NewContribution(m plan.Measurement, weights []float64, integers []int64) Contribution {
	b := Contribution{Measurement: m}
	var squares float64
	for i, w := range weights {
		b.Weights = append(b.Weights, Weight{w, integers[i]})
		squares += float64(float64(w*w) * float64(integers[i]))
	}
	b.Weights, b.Variance = mergeEqual(b.Weights), float64(squares*m.Mechanism.Variance())
	return b
}

// LawOf returns the law of the noise of a sum of contributions.
func LawOf(contributions []Contribution) *budget.NoiseSum {
	return budget.NewNoiseSum(NoiseTerms(contributions))
}

// NoiseTerms returns the terms of the noise of a sum of contributions.
func NoiseTerms(contributions []Contribution) []budget.NoiseTerm {
	var terms []budget.NoiseTerm
	for _, b := range contributions {
		terms = append(terms, termsOf(b.Measurement.Mechanism, b.Weights)...)
	}
	return terms
}

// termsOf returns the noise terms of weights on integers of a mechanism.
func termsOf(m budget.Mechanism, weights []Weight) []budget.NoiseTerm {
	terms := make([]budget.NoiseTerm, len(weights))
	for i, w := range weights {
		terms[i] = m.NoiseTerm(w.Value, w.Integers)
	}
	return terms
}

// mergeEqual merges equal weights, largest first, and leaves out those that are negligible compared with the largest.
func mergeEqual(weights []Weight) []Weight {
	slices.SortStableFunc(weights, func(a, b Weight) int {
		if c := cmp.Compare(math.Abs(b.Value), math.Abs(a.Value)); c != 0 {
			return c
		}
		return cmp.Compare(b.Value, a.Value)
	})
	var out []Weight
	for _, w := range weights {
		if math.Abs(w.Value) <= math.Abs(weights[0].Value)*equalWeights*1e-3 {
			break
		}
		alike := slices.IndexFunc(out[max(0, len(out)-2):], func(o Weight) bool {
			return math.Abs(o.Value-w.Value) <= math.Abs(o.Value)*equalWeights
		})
		if alike < 0 {
			out = append(out, w)
			continue
		}
		out[max(0, len(out)-2)+alike].Integers += w.Integers
	}
	return out
}

// Sum is a sum Σ Π_a q_a(s_a)·x_s of the cells of an estimated table, whatever sums of them the table shows.
type Sum struct {
	estimate *Estimate
	marginal int
	axes     residual.Set
	q        [][]float64 // by axis, of its categories
	total    []float64   // by axis: the part of the total
	known    map[axisKey]axisWeights
}

// axisKey is what the weights along an axis of a source depend on.
type axisKey struct {
	key, level    int
	plain, merged bool
}

// axisWeights are the weights along an axis of a source, and how many integers have each.
type axisWeights struct {
	values   []float64
	integers []int64
}

// Sum returns the sum of the cells of a marginal with coefficients by axis, in the table's own order of attributes.
func (e *Estimate) Sum(marginal int, q [][]float64) *Sum {
	s := &Sum{estimate: e, marginal: marginal, axes: e.Axes[marginal], q: q, known: map[axisKey]axisWeights{}}
	for k, a := range s.axes {
		s.total = append(s.total, e.Columns[a.Column].Weights(a, 0, q[k], false)[0])
	}
	return s
}

// Weights returns the weights of the sum on each integer of every source that contributes to it, by the source's
// index.
func (s *Sum) Weights() map[int][]float64 { return s.weightsBy(s.estimate.ResidualsOf(s.marginal)) }

// weightsBy returns the part of the weights that comes from these residuals.
func (s *Sum) weightsBy(residuals []int) map[int][]float64 {
	out := map[int][]float64{}
	s.visitSources(residuals, false, func(source int, weights []float64, _ []int64) { out[source] = weights })
	return out
}

// agrees reports whether another sum of the same table has the same coefficients on a residual.
func (s *Sum) agrees(other *Sum, of int) bool {
	for k, a := range s.axes {
		if hasColumn(s.estimate.Residuals[of].Axes, a.Column) && !slices.Equal(s.q[k], other.q[k]) ||
			s.total[k] != other.total[k] {
			return false
		}
	}
	return true
}

// Contributions returns the contributions to the sum, without sources that cancel out: those with less of its noise
// than rounding produces.
func (s *Sum) Contributions() []Contribution {
	var out []Contribution
	var variance float64
	s.visitSources(s.estimate.ResidualsOf(s.marginal), true, func(source int, weights []float64, integers []int64) {
		out = append(out, NewContribution(s.estimate.Sources[source], weights, integers))
		variance += out[len(out)-1].Variance
	})
	return slices.DeleteFunc(out, func(b Contribution) bool { return !(b.Variance > variance*1e-24) })
}

// Terms returns the terms of the sum's noise.
func (s *Sum) Terms() []budget.NoiseTerm {
	var terms []budget.NoiseTerm
	s.visitSources(s.estimate.ResidualsOf(s.marginal), true, func(source int, weights []float64, integers []int64) {
		all := make([]Weight, len(weights))
		for i, w := range weights {
			all[i] = Weight{w, integers[i]}
		}
		terms = append(terms, termsOf(s.estimate.Sources[source].Mechanism, mergeEqual(all))...)
	})
	return withoutCancelled(terms)
}

// withoutCancelled leaves out terms that cancel except for rounding.
func withoutCancelled(terms []budget.NoiseTerm) []budget.NoiseTerm {
	var most float64
	for _, t := range terms {
		most = max(most, math.Abs(t.Weight))
	}
	return slices.DeleteFunc(terms,
		func(t budget.NoiseTerm) bool { return math.Abs(t.Weight) <= most*equalWeights*1e-6 })
}

// residualPart is a residual in a source, with the weight that the source has in its estimate.
type residualPart struct {
	residual int
	weight   float64
}

// visitSources visits the sources of some residuals in order, with the weights that these residuals put on the
// source's integers: integer by integer or, if merged, equal weights along an axis together, with their number.
func (s *Sum) visitSources(residuals []int, merged bool, visit func(source int, weights []float64, integers []int64)) {
	e := s.estimate
	by := map[int][]residualPart{}
	for _, r := range residuals {
		for _, p := range e.Parts[r] {
			by[p.Source] = append(by[p.Source], residualPart{r, p.Weight})
		}
	}
	for _, source := range slices.Sorted(maps.Keys(by)) {
		weights, integers := s.sourceWeights(e.ResidualSources[source], by[source], merged)
		visit(source, weights, integers)
	}
}

// sourceWeights returns the weights on the integers of one source, which has these parts of residuals of the table.
//
// The sum takes from every residual the coefficients of [residual.Column.Weights], and from the source's own figure
// of that residual its part. That figure is centred: as centring is symmetric, the weights on the integers are the
// centred coefficients, the same for all categories of an axis that the residual leaves out.
func (s *Sum) sourceWeights(from residual.Source, parts []residualPart, merged bool) (weights []float64,
	integers []int64) {
	byAxis := make([]axisWeights, len(from.Axes))
	integers = []int64{1}
	for i, a := range from.Axes {
		byAxis[i] = s.weightsAlong(a, from.Plain[i], merged)
		integers = residual.Outer(integers, byAxis[i].integers)
	}
	weights = make([]float64, len(integers))
	for _, p := range parts {
		of, term := s.estimate.Residuals[p.residual].Axes, []float64{p.weight}
		for k, a := range s.axes {
			if !hasColumn(of, a.Column) {
				term[0] = float64(term[0] * s.total[k])
			}
		}
		for k, a := range from.Axes {
			if hasColumn(of, a.Column) {
				term = residual.Outer(term, byAxis[k].values)
			} else {
				term = repeatEach(term, len(byAxis[k].values))
			}
		}
		for j, w := range term {
			weights[j] += w
		}
	}
	return weights, integers
}

// weightsAlong returns the weights along an axis of a source; zeros if the table does not have it.
func (s *Sum) weightsAlong(axis residual.Axis, plain, merged bool) axisWeights {
	column := s.estimate.Columns[axis.Column]
	k := slices.IndexFunc(s.axes, func(a residual.Axis) bool { return a.Column == axis.Column })
	if k < 0 {
		return newAxisWeights(make([]float64, column.Size(axis.Level)), merged)
	}
	key := axisKey{k, axis.Level, plain, merged}
	out, ok := s.known[key]
	if !ok {
		out = newAxisWeights(column.Weights(s.axes[k], axis.Level, s.q[k], plain), merged)
		s.known[key] = out
	}
	return out
}

// newAxisWeights lists weights one by one, or merges equal ones.
func newAxisWeights(values []float64, merged bool) axisWeights {
	if !merged {
		return axisWeights{values, slices.Repeat([]int64{1}, len(values))}
	}
	var out axisWeights
	at := map[float64]int{}
	for _, v := range values {
		i, ok := at[v]
		if !ok {
			i = len(out.values)
			at[v] = i
			out.values, out.integers = append(out.values, v), append(out.integers, 0)
		}
		out.integers[i]++
	}
	return out
}

// hasColumn reports whether a residual has a column.
func hasColumn(residual residual.Set, column int) bool {
	for _, a := range residual {
		if a.Column == column {
			return true
		}
	}
	return false
}

// repeatEach returns a list with each element repeated n times.
func repeatEach(a []float64, n int) []float64 {
	out := make([]float64, 0, len(a)*n)
	for _, x := range a {
		for range n {
			out = append(out, x)
		}
	}
	return out
}

// SumVariances returns the variances of the noise on sums of a marginal's cells: one for each choice of coefficients
// along every axis, the last axis's fastest.
//
// Noise of variance v on the integers of a residual's estimate adds v·Π_a ‖w_a‖², with w_a the weights along axis a
// on the integers of its column's residual, or the part of the total where the residual leaves it out; and the
// estimates of residuals are uncorrelated ([residual.Workload.Combine]), so these add up.
func (e *Estimate) SumVariances(marginal int, q [][][]float64) []float64 {
	axes := e.Axes[marginal]
	squares := make([]map[int][]float64, len(axes)) // by axis and level
	var out []float64
	for i := range squares {
		squares[i] = map[int][]float64{}
	}
	for _, r := range e.ResidualsOf(marginal) {
		term := []float64{e.Variances[r]}
		for i, a := range axes {
			level := levelIn(e.Residuals[r].Axes, a.Column)
			own, ok := squares[i][level]
			if !ok {
				for _, coefficients := range q[i] {
					own = append(own, sumOfSquares(e.Columns[a.Column].Weights(a, level, coefficients, false)))
				}
				squares[i][level] = own
			}
			term = residual.Outer(term, own)
		}
		if out == nil {
			out = make([]float64, len(term))
		}
		for i, v := range term {
			out[i] += v
		}
	}
	return out
}

// VisitResiduals visits what the noise of the sum Σ Π_a q_a(s_a)·x_s of a marginal's cells consists of, with
// coefficients by axis: for each residual of the marginal, the weights of the sum on independent noises of the variance
// Variances[residual]. Sums of all marginals have the same noises, so their errors depend on each other through these
// (see [Estimate.SumVariances]).
func (e *Estimate) VisitResiduals(marginal int, q [][]float64, visit func(residual int, weights []float64)) {
	for _, r := range e.ResidualsOf(marginal) {
		own, weights := e.Residuals[r].Axes, []float64{1}
		for i, a := range e.Axes[marginal] {
			if !hasColumn(own, a.Column) {
				weights[0] = float64(weights[0] * e.Columns[a.Column].Weights(a, 0, q[i], false)[0])
			}
		}
		for _, of := range own { // one order, whatever that of the table is
			i := slices.IndexFunc(e.Axes[marginal], func(a residual.Axis) bool { return a.Column == of.Column })
			a := e.Axes[marginal][i]
			weights = residual.Outer(weights, e.Columns[a.Column].Weights(a, of.Level, q[i], false))
		}
		visit(r, weights)
	}
}

// sumOfSquares returns Σ x².
func sumOfSquares(x []float64) float64 {
	var sum float64
	for _, v := range x {
		sum += float64(v * v)
	}
	return sum
}

// levelIn returns the level at which a residual has a column, 0 if it does not.
func levelIn(residual residual.Set, column int) int {
	for _, a := range residual {
		if a.Column == column {
			return a.Level
		}
	}
	return 0
}

// Shape names everything about coefficients along an axis of a table that affects the law of a sum: sums of one shape
// along every axis have noise of one law.
func (e *Estimate) Shape(a residual.Axis, q []float64) string {
	column := e.Columns[a.Column]
	var name []byte
	for _, level := range column.ContributingLevels(a.Level) {
		weights := column.Weights(a, level, q, false)
		slices.Sort(weights)
		most := max(math.Abs(weights[0]), math.Abs(weights[len(weights)-1]))
		run := 0
		for i, w := range weights {
			if math.Abs(w) <= most*1e-12 {
				weights[i] = 0
			}
			if i > run && math.Abs(weights[i]-weights[run]) > most*1e-12 {
				name = strconv.AppendFloat(append(strconv.AppendInt(name, int64(i-run), 10), 'x'), weights[run], 'g',
					10, 64)
				name, run = append(name, ' '), i
			}
		}
		name = strconv.AppendFloat(append(strconv.AppendInt(name, int64(len(weights)-run), 10), 'x'), weights[run],
			'g', 10,
			64)
		name = append(name, '|')
	}
	return string(name)
}
