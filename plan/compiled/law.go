package compiled

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"math"
	"slices"
	"strconv"
	"sync"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/residual"
)

// This file holds the laws of tables that are put together: what the intervals of their cells are, and what they
// attain.

// intervals are those of a table's cells.
type intervals struct {
	Margin   float64 // of the widest
	Attained float64 // by every one
	Half     float64 // the margin of one half, for a cell of the mean variance
}

// Shown is the mean variance of what a marginal shows: its cells where sums of neighbours count as well.
func (e *Estimate) Shown(marginal int) float64 {
	if !slices.ContainsFunc(e.Axes[marginal], func(a residual.Axis) bool { return a.Sums == residual.Ranges }) {
		mean, _ := e.Variance(marginal, e.Variances)
		return mean
	}
	var sum float64
	all := e.CellVariances(e.Axes[marginal], e.Variances)
	for _, v := range all {
		sum += v
	}
	return sum / float64(len(all))
}

// different are, of what an axis of a table shows of the cells, rows of which no two have one shape, and one for every
// shape: the coefficients 1 for a category or, of prefix sums, for all up to it.
func (e *Estimate) different(a residual.Axis) [][]float64 {
	column := e.Columns[a.Column]
	n := column.Size(a.Level)
	q := make([]float64, n)
	var out [][]float64
	if _, ranged := column.Ranging(); !ranged && a.Sums != residual.Prefixes {
		for _, i := range column.Kinds(a.Level) {
			one := make([]float64, n)
			one[i] = 1
			out = append(out, one)
		}
		return out
	}
	seen := map[string]bool{}
	for i := range n {
		q[i] = 1
		if shape := e.Shape(a, q); !seen[shape] {
			seen[shape] = true
			out = append(out, slices.Clone(q))
		}
		if a.Sums == residual.Prefixes {
			continue
		}
		q[i] = 0
	}
	return out
}

// Laws keeps the laws that were worked out, as tables share them.
type Laws map[string]law

// law is that of the noise of a cell.
type law struct {
	deviation, margin, attained, half float64
	whole                             bool
}

// of is the law of the sum of these terms, with its margin at a confidence.
func (l Laws) of(terms []budget.NoiseTerm, confidence float64) law {
	key := keyOf(terms) + strconv.FormatFloat(confidence, 'g', -1, 64)
	out, ok := l[key]
	if !ok {
		out = remembered.of(terms, confidence)
		l[key] = out
	}
	return out
}

// lawOf works a law out.
func lawOf(terms []budget.NoiseTerm, confidence float64) (out law) {
	s := budget.NewNoiseSum(terms)
	out.deviation, out.whole = s.Deviation(), s.Whole()
	out.margin, out.attained = s.Margin(confidence)
	out.half, _ = s.Margin(0.5)
	return out
}

// mostLaws is how many laws are remembered, some 400 kB of them; then all are forgotten.
const mostLaws = 1 << 12

// lawsOfPlans remembers laws from one plan to the next, as a plan that is read again has the same: to the last bit of
// every term, so that no figure depends on what was planned before.
type lawsOfPlans struct {
	lock  sync.Mutex
	known map[[sha256.Size]byte]law
}

var remembered lawsOfPlans

// of is lawOf for terms in the order of keyOf. Two plans that ask at once may both work it out.
func (l *lawsOfPlans) of(terms []budget.NoiseTerm, confidence float64) law {
	exact := binary.BigEndian.AppendUint64(nil, math.Float64bits(confidence))
	for _, t := range terms {
		exact = append(append(exact, t.Kind...), 0)
		for _, bits := range []uint64{math.Float64bits(t.Parameter), uint64(t.Count), math.Float64bits(t.Weight)} {
			exact = binary.BigEndian.AppendUint64(exact, bits)
		}
	}
	key := sha256.Sum256(exact)
	l.lock.Lock()
	out, ok := l.known[key]
	l.lock.Unlock()
	if ok {
		return out
	}
	out = lawOf(terms, confidence)
	l.lock.Lock()
	defer l.lock.Unlock()
	if l.known == nil || len(l.known) >= mostLaws {
		l.known = map[[sha256.Size]byte]law{}
	}
	l.known[key] = out
	return out
}

// keyOf names terms, in any order, to twelve digits of their weights.
func keyOf(terms []budget.NoiseTerm) string {
	slices.SortFunc(terms, func(a, b budget.NoiseTerm) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Parameter, b.Parameter), cmp.Compare(a.Count, b.Count),
			cmp.Compare(math.Abs(a.Weight), math.Abs(b.Weight)))
	})
	key := make([]byte, 0, 25*len(terms))
	for _, t := range terms {
		key = append(key, t.Kind[len(t.Kind)-1])
		key = binary.BigEndian.AppendUint64(key, math.Float64bits(t.Parameter))
		key = binary.BigEndian.AppendUint64(key, uint64(t.Count))
		key = binary.BigEndian.AppendUint64(key, (math.Float64bits(math.Abs(t.Weight))+1<<11)>>12)
	}
	return string(key)
}

// Intervals are those of a marginal's cells, which have these standard errors on the mean and at most, from the laws of
// all of them: one of each shape along every axis. Where laws differ, a cell's margin is its standard error times what
// the law that needs most needs ([Statistic.MarginOf]), so that each attains what the law of its own noise needs.
func (e *Estimate) Intervals(marginal int, mean, most, confidence float64, known Laws) intervals {
	out := intervals{Attained: 1}
	var ratio, half float64
	some := 0
	exactly := func(q [][]float64) {
		l := known.of(e.Sum(marginal, q).Terms(), confidence)
		some++
		out.Margin, out.Attained = l.margin, min(out.Attained, l.attained)
		if l.whole {
			l.margin += 0.5 // as rounding could leave out a value at its end
		}
		if l.deviation > 0 {
			ratio, half = max(ratio, l.margin/l.deviation), max(half, l.half/l.deviation)
		}
	}
	all, wide := e.drawnBy(marginal)
	if wide = wide && e.hasRanges(marginal); wide {
		rows := make([][]row, len(e.Axes[marginal]))
		for i, a := range e.Axes[marginal] {
			rows[i] = e.rowsOf(a)
		}
		widest := 0.0
		eachChoice(rows, func(cell []row) {
			at, ok := step(all, cell)
			if ok && at <= mostStep && 4*at < 1-confidence {
				some, widest = some+1, max(widest, at)
				return
			}
			q := make([][]float64, len(cell))
			for i, r := range cell {
				q[i] = r.q
			}
			exactly(q)
		})
		if widest > 0 {
			out.Attained = min(out.Attained, confidence)
			ratio, half = max(ratio, normalMultiple(widest, confidence)), max(half, normalMultiple(widest, 0.5))
		}
	} else {
		rows := make([][][]float64, len(e.Axes[marginal]))
		for i, a := range e.Axes[marginal] {
			rows[i] = e.different(a)
		}
		eachChoice(rows, exactly)
	}
	out.Half = budget.RoundUp(float64(half*mean), plan.Significant)
	if some > 1 {
		out.Margin = float64(ratio * most)
	}
	if out.Margin != math.Floor(out.Margin) { // a whole one is that of a sum of integers
		out.Margin = budget.RoundUp(float64(out.Margin*(1+1e-9)), plan.Significant)
	}
	// Below the law by less than its own error, in digits that every machine agrees on.
	out.Attained = max(confidence, math.Floor(out.Attained*1e9)/1e9)
	return out
}

// row is one row of what an axis shows, as coefficients of the cells, with its weights on the integers of every
// residual of the column, by level: the largest, and the sum of their squares.
type row struct {
	q                []float64
	largest, squares map[int]float64
}

// rowsOf are the rows of an axis: one where all are alike.
func (e *Estimate) rowsOf(a residual.Axis) []row {
	if known, ok := e.rows[a]; ok {
		return known
	}
	column := e.Columns[a.Column]
	levels := column.Below(a.Level)
	q := make([]float64, column.Size(a.Level))
	var out []row
	for i := range q {
		q[i] = 1
		r := row{slices.Clone(q), map[int]float64{}, map[int]float64{}}
		for _, level := range levels {
			for _, w := range column.Weights(a, level, q, false) {
				r.largest[level] = max(r.largest[level], math.Abs(w))
				r.squares[level] += float64(w * w)
			}
		}
		out = append(out, r)
		if a.Sums == residual.Prefixes {
			continue
		}
		if q[i] = 0; column.Plain() { // nothing tells its categories apart
			break
		}
	}
	if e.rows == nil {
		e.rows = map[residual.Axis][]row{}
	}
	e.rows[a] = out
	return out
}

// hasRanges tells that a marginal has an axis with ranges: its cells rest on many different weights.
func (e *Estimate) hasRanges(marginal int) bool {
	return slices.ContainsFunc(e.Axes[marginal], func(a residual.Axis) bool {
		_, ranged := e.Columns[a.Column].Ranging()
		return ranged
	})
}

// drawn is what a residual's estimate takes from one source.
type drawn struct {
	levels           []int   // of the axes of the marginal
	weight, variance float64 // of an integer, and what it adds where its weight is 1
}

// drawnBy lists what the residuals of a marginal take, false where some noise is not wide discrete Gaussian noise on
// the integers of residuals.
func (e *Estimate) drawnBy(marginal int) ([]drawn, bool) {
	const wide = 4 // the least σ²
	var out []drawn
	for _, r := range e.Of(marginal) {
		var levels []int
		for _, a := range e.Axes[marginal] {
			levels = append(levels, levelIn(e.Residuals[r].Axes, a.Column))
		}
		for _, p := range e.Parts[r] {
			m := e.Sources[p.Source].Mechanism
			if v, _ := m.Parameter.Float64(); !e.Places[p.Source].Residual() || !m.Kind.Normal() || v < wide {
				return nil, false
			}
			out = append(out, drawn{levels, p.Weight, float64(p.Weight*p.Weight) * m.Variance()})
		}
	}
	return out, true
}

// step is, for the cell of one row of every axis, the largest weight of a fine draw over the standard error. Draws are
// fine, from the finest on, as soon as all of them together have so much of the variance that the lattice of the
// coarser ones is blurred: enough times the square of the largest weight of all. It is false where all are coarse.
func step(all []drawn, cell []row) (float64, bool) {
	const enough = 6.5
	type term struct{ largest, variance float64 }
	terms := make([]term, len(all))
	var most, variance float64
	for i, d := range all {
		t := term{d.weight, d.variance}
		for axis, r := range cell {
			t.largest *= r.largest[d.levels[axis]]
			t.variance *= r.squares[d.levels[axis]]
		}
		terms[i] = t
		most, variance = max(most, t.largest), variance+t.variance
	}
	slices.SortFunc(terms, func(a, b term) int { return cmp.Compare(a.largest, b.largest) })
	var fine float64
	for _, t := range terms {
		if fine += t.variance; fine >= float64(float64(enough*most)*most) {
			return t.largest / math.Sqrt(variance), true
		}
	}
	return 0, false
}

// mostStep is up to which step the normal law is used, where half of what the confidence leaves open is enough for its
// error: half a per cent at most.
const mostStep = 1.0 / 400

// normalMultiple is of how many standard errors the margin of a cell of this step is, by the normal law widened by what
// it can be wrong.
//
// Let S have the variance V, with fine draws of weights up to w that have the variance F of it, and w' the largest
// weight of all. Esseen's smoothing inequality (1945; Feller 1971, XVI.3, lemma 2) with T = π/w gives |P(S ≤ x) −
// Φ(x/√V)| ≤ 24·w/(π²·√(2πV)) < 0.971·w/√V, beside the integral over |θ| ≤ T of the difference of the characteristic
// functions over |θ|. That of a discrete Gaussian of σ² ≥ 4 is, up to half a turn, the normal one times at most 1 +
// 2e^{−2π²σ²}(cosh(2πσ²t) − 1) (Poisson's summation; further terms are nothing): up to π/w' the difference is nothing,
// and from there on both are at most e^{−Fθ²/2} times that, with Fθ²/2 ≥ 6.5·π²/2 > 32. So the integral is below 1e-12
// for any number of draws that a cell has, and P(|S| ≤ m) ≥ 2Φ(m/√V) − 1 − 2·step.
func normalMultiple(step, confidence float64) float64 {
	return budget.NormalQuantile((1 - confidence - 2*step) / 2)
}

// Whole tells that the cells of a table that is put together are all sums of noisy integers of one measurement, each as
// it was drawn.
func (e *Estimate) Whole(marginal int) bool {
	source := -1
	for _, r := range e.Of(marginal) {
		for _, p := range e.Parts[r] {
			if source >= 0 && p.Source != source {
				return false
			}
			source = p.Source
		}
	}
	var first [][]float64
	for _, a := range e.Axes[marginal] {
		rows := e.different(a)
		if len(rows) > 1 {
			return false
		}
		first = append(first, rows[0])
	}
	return budget.NewNoiseSum(e.Sum(marginal, first).Terms()).Whole()
}

// eachChoice visits every choice of one row for each axis.
func eachChoice[T any](rows [][]T, visit func(q []T)) {
	q := make([]T, len(rows))
	var walk func(i int)
	walk = func(i int) {
		if i == len(rows) {
			visit(q)
			return
		}
		for _, row := range rows[i] {
			q[i] = row
			walk(i + 1)
		}
	}
	walk(0)
}

// MarginOf is half the width of the interval of a cell with this standard error, of a table the largest of which is
// most.
func MarginOf(s plan.Statistic, deviation, most float64) float64 {
	if s.Uneven == 0 {
		return s.Margin
	}
	return float64(s.Margin * (deviation / most))
}
