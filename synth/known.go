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

// This file holds what is known of microdata: the unbiased estimates of the counts of their columns and of sets of
// these.

// known is the unbiased estimate of the counts of a set of columns.
type known struct {
	columns  []int
	path     string  // of the table that it is; "": none
	keys     []Key   // of each column, as the table has it; nil: as the microdata do
	of       [][]int // class of each category, by column; nil: categories
	sizes    []int   // classes, by column
	counts   []float64
	sigma    float64
	proxy    float64 // s of a cell
	measured int
	first    bool
}

// knownOf is what measurements determine: every column as it was measured before the rounds, every set of columns that
// rounds have measured, a single column too, and every part of one with two columns or more.
func knownOf(asked plan.Synthetic, columns []measured.Measured, rounds measured.Rounds) []known {
	var all []known
	for i, m := range columns {
		all = append(all, known{columns: []int{i}, of: [][]int{nil}, sizes: []int{m.Values.Len()}, counts: countsOf(m),
			sigma: math.Sqrt(varianceOf(m)), proxy: proxyOf(m), measured: 1, first: true})
	}
	single := len(all)
	candidates, sizes, place := adaptive.Candidates(asked), make([]int, len(columns)), map[string]int{}
	for i, m := range columns {
		if sizes[i] = m.Values.Len(); rounds.Classes != nil {
			sizes[i] = slices.Max(rounds.Classes[i]) + 1
		}
	}
	for _, r := range rounds.Each {
		whole := known{columns: candidates[r.Choice], counts: countsOf(r.Measured), sigma: math.Sqrt(varianceOf(r.Measured)),
			proxy: proxyOf(r.Measured), measured: 1}
		for _, column := range whole.columns {
			if whole.sizes = append(whole.sizes, sizes[column]); rounds.Classes == nil {
				whole.of = append(whole.of, nil)
			} else {
				whole.of = append(whole.of, rounds.Classes[column])
			}
		}
		for _, part := range whole.parts() {
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
	slices.SortStableFunc(all[single:], func(a, b known) int {
		return cmp.Or(len(a.columns)-len(b.columns), slices.Compare(a.columns, b.columns))
	})
	return all
}

// parts are the known, and what it says of every part of its columns, of two at least. Of a single column nothing is
// said that its own measurement does not say of each category.
func (e known) parts() []known {
	all := []known{e}
	if len(e.columns) <= 2 {
		return all
	}
	for left := range e.columns {
		all = append(all, e.without(left).parts()...)
	}
	return all
}

// without is the estimate of all columns but one.
func (e known) without(left int) known {
	drop := func(x []int) []int { return slices.Delete(slices.Clone(x), left, left+1) }
	out := known{columns: drop(e.columns), of: slices.Delete(slices.Clone(e.of), left, left+1), sizes: drop(e.sizes)}
	n, step := e.sizes[left], product(e.sizes[left+1:])
	out.counts = make([]float64, len(e.counts)/n)
	for i, x := range e.counts {
		out.counts[i/(n*step)*step+i%step] += x
	}
	out.sigma, out.proxy = e.sigma*math.Sqrt(float64(n)), e.proxy*float64(n)
	return out
}

// proxyOf is the parameter of the noise of a measurement: that of a discrete normal law.
func proxyOf(m measured.Measured) float64 {
	s, _ := m.Measurement.Mechanism.Parameter.Float64()
	return s
}

// noiseBound is above the L1 norm of the noise of all cells with a probability of 95 %.
func (e known) noiseBound() float64 {
	const ln2, ln20 = 0.69314718055994530942, 2.9957322735539909934
	n := float64(len(e.counts))
	return math.Sqrt(2 * n * e.proxy * (float64(n*ln2) + ln20))
}

// tally counts rows, by column, in the cells of what is known.
func (e known) tally(codes [][]uint32) []float64 {
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

// rowLaw is a model of rows. What it makes is whole where the context has not ended, and otherwise nothing to go by.
type rowLaw interface {
	// draw makes n rows, by column.
	draw(ctx context.Context, n int, r *stream) [][]uint32
	// marginals calls found with the place of each of these and the counts that the model expects of its cells: by two
	// goroutines, in no order.
	marginals(ctx context.Context, of []known, found func(i int, counts []float64))
}

// givenLaw is a model of rows that can be drawn where they have some of their columns.
type givenLaw interface {
	rowLaw
	// drawGiven draws the columns that are nil by the law of the model given those that are not, in place.
	drawGiven(ctx context.Context, codes [][]uint32, n int, r *stream) [][]uint32
}
