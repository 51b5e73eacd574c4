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

// This file holds the laws of estimated tables: the intervals of their cells, and the confidence that these attain.

// intervals describes the intervals of a table's cells.
type intervals struct {
	Margin   float64 // of the widest
	Attained float64 // the confidence of every interval
	Half     float64 // the margin at confidence one half, for a cell of the mean variance
}

// MeanVariance returns the mean variance of what a marginal shows. If sums of neighbours count as well, that is the
// mean over its cells.
func (e *Estimate) MeanVariance(marginal int) float64 {
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

// shapesOf returns, of the rows of an axis, one for every shape. A row has the coefficient 1 for a category or, for
// prefix sums, for all categories up to it.
func (e *Estimate) shapesOf(a residual.Axis) [][]float64 {
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

// Laws caches the laws that were worked out, as tables share them.
type Laws map[string]law

// law describes the law of the noise of a cell.
type law struct {
	deviation, margin, attained, half float64
	whole                             bool
}

// newLaw returns the law of the sum of these terms, with its margin at a confidence.
func (l Laws) lawOf(terms []budget.NoiseTerm, confidence float64) law {
	key := keyOf(terms) + strconv.FormatFloat(confidence, 'g', -1, 64)
	out, ok := l[key]
	if !ok {
		out = cachedLaws.lawOf(terms, confidence)
		l[key] = out
	}
	return out
}

// newLaw works a law out.
func newLaw(terms []budget.NoiseTerm, confidence float64) (out law) {
	s := budget.NewNoiseSum(terms)
	out.deviation, out.whole = s.Deviation(), s.Whole()
	out.margin, out.attained = s.Margin(confidence)
	out.half, _ = s.Margin(0.5)
	return out
}

// mostLaws is how many laws are cached, about 400 kB; then all are dropped.
const mostLaws = 1 << 12

// lawCache caches laws from one plan to the next, as a plan that is read again has the same laws. Its keys are exact
// to the last bit of every term, so no figure depends on what was planned before.
type lawCache struct {
	lock  sync.Mutex
	known map[[sha256.Size]byte]law
}

var cachedLaws lawCache

// newLaw returns newLaw for terms in the order of keyOf. Two concurrent callers may both work it out.
func (l *lawCache) lawOf(terms []budget.NoiseTerm, confidence float64) law {
	exact := binary.BigEndian.AppendUint64(nil, math.Float64bits(confidence))
	for _, t := range terms {
		exact = append(append(exact, t.Kind...), 0)
		for _, bits := range []uint64{math.Float64bits(t.Parameter), math.Float64bits(t.Count),
			math.Float64bits(t.Weight)} {
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
	out = newLaw(terms, confidence)
	l.lock.Lock()
	defer l.lock.Unlock()
	if l.known == nil || len(l.known) >= mostLaws {
		l.known = map[[sha256.Size]byte]law{}
	}
	l.known[key] = out
	return out
}

// keyOf returns a key for terms in any order, to twelve digits of their weights.
func keyOf(terms []budget.NoiseTerm) string {
	slices.SortFunc(terms, func(a, b budget.NoiseTerm) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Parameter, b.Parameter), cmp.Compare(a.Count, b.Count),
			cmp.Compare(math.Abs(a.Weight), math.Abs(b.Weight)))
	})
	key := make([]byte, 0, 25*len(terms))
	for _, t := range terms {
		key = append(key, t.Kind[len(t.Kind)-1])
		key = binary.BigEndian.AppendUint64(key, math.Float64bits(t.Parameter))
		key = binary.BigEndian.AppendUint64(key, math.Float64bits(t.Count))
		key = binary.BigEndian.AppendUint64(key, (math.Float64bits(math.Abs(t.Weight))+1<<11)>>12)
	}
	return string(key)
}

// Intervals returns the intervals of a marginal's cells, which have this mean and this largest standard error, from
// the laws of all of them: one of each shape along every axis. If laws differ, a cell's margin is its standard error
// times the multiple that the most demanding law requires ([Statistic.MarginOf]), so that each attains what the law
// of its own noise requires.
func (e *Estimate) Intervals(marginal int, mean, most, confidence float64, known Laws) intervals {
	out := intervals{Attained: 1}
	var ratio, half float64
	some := 0
	exactly := func(q [][]float64) {
		l := known.lawOf(e.Sum(marginal, q).Terms(), confidence)
		some++
		out.Margin, out.Attained = l.margin, min(out.Attained, l.attained)
		if l.whole {
			l.margin += 0.5 // as rounding could leave out a value at its end
		}
		if l.deviation > 0 {
			ratio, half = max(ratio, l.margin/l.deviation), max(half, l.half/l.deviation)
		}
	}
	all, wide := e.drawsOf(marginal)
	if wide = wide && e.hasRanges(marginal); wide {
		rows := make([][]row, len(e.Axes[marginal]))
		for i, a := range e.Axes[marginal] {
			rows[i] = e.rowsOf(a)
		}
		widest := 0.0
		eachChoice(rows, func(cell []row) {
			at, ok := latticeStep(all, cell)
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
			rows[i] = e.shapesOf(a)
		}
		eachChoice(rows, exactly)
	}
	out.Half = budget.RoundUp(float64(half*mean), plan.Significant)
	if some > 1 {
		out.Margin = float64(ratio * most)
	}
	if out.Margin != math.Floor(out.Margin) { // a whole margin belongs to a sum of integers
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

// rowsOf returns the rows of an axis: only one if nothing distinguishes them.
func (e *Estimate) rowsOf(a residual.Axis) []row {
	if known, ok := e.rows[a]; ok {
		return known
	}
	column := e.Columns[a.Column]
	levels := column.ContributingLevels(a.Level)
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
		if q[i] = 0; column.Plain() { // its categories are interchangeable
			break
		}
	}
	if e.rows == nil {
		e.rows = map[residual.Axis][]row{}
	}
	e.rows[a] = out
	return out
}

// hasRanges reports whether a marginal has an axis with ranges, so that its cells have many different weights.
func (e *Estimate) hasRanges(marginal int) bool {
	return slices.ContainsFunc(e.Axes[marginal], func(a residual.Axis) bool {
		_, ranged := e.Columns[a.Column].Ranging()
		return ranged
	})
}

// residualDraw is what a residual's estimate takes from one source.
type residualDraw struct {
	levels           []int   // of the axes of the marginal
	weight, variance float64 // of an integer, and the variance that it adds with weight 1
}

// drawsOf returns what the residuals of a marginal take from their sources. It reports false if some noise is not
// wide discrete Gaussian noise on the integers of residuals.
func (e *Estimate) drawsOf(marginal int) ([]residualDraw, bool) {
	const wide = 4 // the least σ²
	var out []residualDraw
	for _, r := range e.ResidualsOf(marginal) {
		var levels []int
		for _, a := range e.Axes[marginal] {
			levels = append(levels, levelIn(e.Residuals[r].Axes, a.Column))
		}
		for _, p := range e.Parts[r] {
			m := e.Sources[p.Source].Mechanism
			if v, _ := m.Parameter.Float64(); !e.ResidualSources[p.Source].Residual() || !m.Kind.Normal() || v < wide {
				return nil, false
			}
			out = append(out, residualDraw{levels, p.Weight, float64(p.Weight*p.Weight) * m.Variance()})
		}
	}
	return out, true
}

// latticeStep returns, for the cell of one row of every axis, the ratio of the largest weight of a fine draw to the
// standard error. Draws are fine, from the finest on, as soon as all of them together have enough of the variance to
// blur the lattice of the coarser ones: enough times the square of the largest weight of all. It reports false if all
// are coarse.
func latticeStep(all []residualDraw, cell []row) (float64, bool) {
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

// mostStep is the step up to which the normal law is used, if half of what the confidence leaves covers its error:
// half a per cent at most.
const mostStep = 1.0 / 400

// normalMultiple returns how many standard errors the margin of a cell of this step is, by the normal law widened by
// its error bound.
//
// Let S have the variance V, with fine draws of weights up to w that have the variance F of it, and w' the largest
// weight of all. Esseen's smoothing inequality (1945; Feller 1971, XVI.3, lemma 2) with T = π/w gives |P(S ≤ x) −
// Φ(x/√V)| ≤ 24·w/(π²·√(2πV)) < 0.971·w/√V, plus the integral over |θ| ≤ T of the difference of the characteristic
// functions over |θ|. The characteristic function of a discrete Gaussian of σ² ≥ 4 is, up to half a turn, the normal
// one times at most 1 + 2e^{−2π²σ²}(cosh(2πσ²t) − 1) (Poisson's summation; further terms are nothing): up to π/w' the
// difference is nothing, and from there on both are at most e^{−Fθ²/2} times that, with Fθ²/2 ≥ 6.5·π²/2 > 32. So the
// integral is below 1e-12 for any number of draws that a cell has, and P(|S| ≤ m) ≥ 2Φ(m/√V) − 1 − 2·step.
func normalMultiple(step, confidence float64) float64 {
	return budget.NormalQuantile((1 - confidence - 2*step) / 2)
}

// IsUnweightedSum reports whether the cells of an estimated table are all sums of noisy integers of one measurement,
// each with weight 1.
func (e *Estimate) IsUnweightedSum(marginal int) bool {
	source := -1
	for _, r := range e.ResidualsOf(marginal) {
		for _, p := range e.Parts[r] {
			if source >= 0 && p.Source != source {
				return false
			}
			source = p.Source
		}
	}
	var first [][]float64
	for _, a := range e.Axes[marginal] {
		rows := e.shapesOf(a)
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

// MarginOf returns the half width of the interval of a cell with this standard error, in a table whose largest is
// most.
func MarginOf(s plan.Statistic, deviation, most float64) float64 {
	if s.Uneven == 0 {
		return s.Margin
	}
	return float64(s.Margin * (deviation / most))
}
