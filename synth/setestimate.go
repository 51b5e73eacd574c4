package synth

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/adaptive"
)

// This file holds the unbiased estimates of the counts of columns of microdata, and of sets of columns.

// setEstimate is the unbiased estimate of the counts of a set of columns.
type setEstimate struct {
	columns  []int
	path     string  // of the table that has these counts; "": none
	keys     []Key   // by column, as in the table; nil: as in the microdata
	of       [][]int // by column: the class of each category; nil: the category itself
	sizes    []int   // by column: the number of classes
	counts   []float64
	sigma    float64
	proxy    float64 // s of the noise of a cell, as in [Fit.Bound]; 0: none
	measured int
	first    bool
}

// estimatesOf returns what measurements determine: every column as it was measured before the rounds, every set of
// columns that rounds have measured, including single columns, and every subset of two columns or more of such a set.
func estimatesOf(synthetic plan.Synthetic, columns []measured.Measured, rounds measured.Rounds) []setEstimate {
	var all []setEstimate
	for i, m := range columns {
		all = append(all, setEstimate{columns: []int{i}, of: [][]int{nil}, sizes: []int{m.Values.Len()},
			counts: countsOf(m),
			sigma:  math.Sqrt(varianceOf(m)), proxy: proxyOf(m), measured: 1, first: true})
	}
	single := len(all)
	candidates, sizes, place := adaptive.Candidates(synthetic), make([]int, len(columns)), map[string]int{}
	for i, m := range columns {
		if sizes[i] = m.Values.Len(); rounds.Classes != nil {
			sizes[i] = slices.Max(rounds.Classes[i]) + 1
		}
	}
	for _, r := range rounds.All {
		whole := setEstimate{columns: candidates[r.Choice], counts: countsOf(r.Measured),
			sigma: math.Sqrt(varianceOf(r.Measured)),
			proxy: proxyOf(r.Measured), measured: 1}
		for _, column := range whole.columns {
			if whole.sizes = append(whole.sizes, sizes[column]); rounds.Classes == nil {
				whole.of = append(whole.of, nil)
			} else {
				whole.of = append(whole.of, rounds.Classes[column])
			}
		}
		for _, part := range whole.subsets() {
			id := fmt.Sprint(part.columns)
			at, twice := place[id]
			if !twice {
				place[id] = len(all)
				all = append(all, part)
				continue
			}
			part.measured += all[at].measured
			all[at].measured = part.measured
			if part.sigma <= all[at].sigma {
				all[at] = part
			}
		}
	}
	slices.SortStableFunc(all[single:], func(a, b setEstimate) int {
		return cmp.Or(len(a.columns)-len(b.columns), slices.Compare(a.columns, b.columns))
	})
	return all
}

// subsets returns the estimate, and what it implies for every subset of at least two of its columns. For single columns
// it implies nothing: their own measurement gives every category.
func (e setEstimate) subsets() []setEstimate {
	all := []setEstimate{e}
	if len(e.columns) <= 2 {
		return all
	}
	for left := range e.columns {
		all = append(all, e.dropColumn(left).subsets()...)
	}
	return all
}

// dropColumn returns the estimate for all columns but one.
func (e setEstimate) dropColumn(left int) setEstimate {
	drop := func(x []int) []int { return slices.Delete(slices.Clone(x), left, left+1) }
	out := setEstimate{columns: drop(e.columns), of: slices.Delete(slices.Clone(e.of), left, left+1),
		sizes: drop(e.sizes)}
	n, step := e.sizes[left], product(e.sizes[left+1:])
	out.counts = make([]float64, len(e.counts)/n)
	for i, x := range e.counts {
		out.counts[i/(n*step)*step+i%step] += x
	}
	out.sigma, out.proxy = e.sigma*math.Sqrt(float64(n)), e.proxy*float64(n)
	return out
}

// proxyOf returns the parameter of the noise of a measurement with a discrete normal law.
func proxyOf(m measured.Measured) float64 {
	s, _ := m.Measurement.Mechanism.Parameter.Float64()
	return s
}

// noiseBound is at least the L1 norm of the noise of all cells with a probability of 95 %.
func (e setEstimate) noiseBound() float64 {
	const ln2, ln20 = 0.69314718055994530942, 2.9957322735539909934
	n := float64(len(e.counts))
	return math.Sqrt(2 * n * e.proxy * (float64(n*ln2) + ln20))
}

// countRows counts rows, by column, in the cells of the estimate.
func (e setEstimate) countRows(codes [][]uint32) []float64 {
	counts := make([]float64, len(e.counts))
	if len(codes[0]) == 0 {
		return counts
	}
	place := make([]uint32, len(codes[0]))
	for i, column := range e.columns {
		size := uint32(e.sizes[i])
		if of := e.of[i]; of != nil {
			for row, code := range codes[column] {
				place[row] = place[row]*size + uint32(of[code])
			}
			continue
		}
		for row, code := range codes[column] {
			place[row] = place[row]*size + code
		}
	}
	for _, at := range place {
		counts[at]++
	}
	return counts
}

// rowLaw is a model of rows. Its results are complete only if the context has not ended.
type rowLaw interface {
	// drawRows draws n rows, by column.
	drawRows(ctx context.Context, n int, r *stream) [][]uint32
	// visitMarginals calls found with the index of each estimate and the counts that the model expects of its cells.
	// found is called by two goroutines, in any order.
	visitMarginals(ctx context.Context, of []setEstimate, found func(i int, counts []float64))
}

// givenLaw is a model of rows that can be drawn if some of their columns are given.
type givenLaw interface {
	rowLaw
	// drawGiven draws the columns that are nil by the law of the model given the others, in place.
	drawGiven(ctx context.Context, codes [][]uint32, n int, r *stream) [][]uint32
}
