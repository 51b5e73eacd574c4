package plan

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan/residual"
)

// This file holds the laws of tables that are put together: what the intervals of their cells are, and what they attain.

// intervals are those of a table's cells.
type intervals struct {
	margin   float64 // of the widest
	attained float64 // by every one
	half     float64 // the margin of one half, for a cell of the mean variance
}

// shown is the mean variance of what a marginal shows: its cells where sums of neighbours count as well.
func (e *Estimate) shown(marginal int) float64 {
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
	n := e.Columns[a.Column].Size(a.Level)
	q := make([]float64, n)
	var out [][]float64
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
		if q[i] = 0; e.Columns[a.Column].Plain() { // nothing tells its categories apart
			break
		}
	}
	return out
}

// laws keeps the laws that were worked out, as tables share them.
type laws map[string]law

// law is that of the noise of a cell.
type law struct {
	deviation, margin, attained, half float64
	whole                             bool
}

// of is the law of the sum of these terms.
func (l laws) of(terms []budget.NoiseTerm) law {
	key := keyOf(terms)
	out, ok := l[key]
	if !ok {
		s := budget.NewNoiseSum(terms)
		out.deviation, out.whole = s.Deviation(), s.Whole()
		out.margin, out.attained = s.Margin(confidence)
		out.half, _ = s.Margin(0.5)
		l[key] = out
	}
	return out
}

// keyOf names terms, in any order, to twelve digits of their weights.
func keyOf(terms []budget.NoiseTerm) string {
	slices.SortFunc(terms, func(a, b budget.NoiseTerm) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Parameter, b.Parameter), cmp.Compare(a.Count, b.Count), cmp.Compare(math.Abs(a.Weight), math.Abs(b.Weight)))
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

// intervals are those of a marginal's cells, which have these standard errors on the mean and at most, from the laws of
// all of them: one of each shape along every axis. Where laws differ, a cell's margin is its standard error times what the
// law that needs most needs ([Statistic.MarginOf]), so that each attains what the law of its own noise needs.
func (e *Estimate) intervals(marginal int, mean, most float64, known laws) intervals {
	axes := e.Axes[marginal]
	rows := make([][][]float64, len(axes))
	for i, a := range axes {
		rows[i] = e.different(a)
	}
	out := intervals{attained: 1}
	var ratio, half float64
	some := 0
	eachChoice(rows, func(q [][]float64) {
		l := known.of(e.Sum(marginal, q).terms())
		some++
		out.margin, out.attained = l.margin, min(out.attained, l.attained)
		if l.whole {
			l.margin += 0.5 // as rounding could leave out a value at its end
		}
		if l.deviation > 0 {
			ratio, half = max(ratio, l.margin/l.deviation), max(half, l.half/l.deviation)
		}
	})
	out.half = budget.RoundUp(float64(half*mean), significant)
	if some > 1 {
		out.margin = float64(ratio * most)
	}
	if out.margin != math.Floor(out.margin) { // a whole one is that of a sum of integers
		out.margin = budget.RoundUp(float64(out.margin*(1+1e-9)), significant)
	}
	// Below the law by less than its own error, in digits that every machine agrees on.
	out.attained = max(confidence, math.Floor(out.attained*1e9)/1e9)
	return out
}

// Whole tells that the cells of a table that is put together are all sums of noisy integers, each as it was drawn.
func (e *Estimate) Whole(marginal int) bool {
	var first [][]float64
	for _, a := range e.Axes[marginal] {
		rows := e.different(a)
		if len(rows) > 1 {
			return false
		}
		first = append(first, rows[0])
	}
	return budget.NewNoiseSum(e.Sum(marginal, first).terms()).Whole()
}

// eachChoice visits every choice of one row for each axis.
func eachChoice(rows [][][]float64, visit func(q [][]float64)) {
	q := make([][]float64, len(rows))
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

// MarginOf is half the width of the interval of a cell with this standard error, of a table the largest of which is most.
func (s Statistic) MarginOf(deviation, most float64) float64 {
	if s.Uneven == 0 {
		return s.Margin
	}
	return float64(s.Margin * (deviation / most))
}
