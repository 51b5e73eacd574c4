package synth

import (
	"context"
	"slices"

	"github.com/dprelease/dprelease/internal/parallel"
)

// This file holds targets: the counts of sets of columns that are to be those of rows.

// target is counts of a set of columns that can be: none negative, of the total, and of single
// columns as all other targets have them.
type target struct {
	*set
	cells []float64
}

// targets project what is known of each set of two columns or more: first the total and single columns ([fixed.learn]),
// which are known best and then stand, and then sets by their number of columns. A set keeps near the smaller ones that
// it holds too, by inverse variance. Fitted together by their variances, the well-known sums would give way to what
// cells below zero pull them to. It ends with the context: what is left of the targets has no cells then.
func (f *fixed) targets(ctx context.Context) []target {
	var all []target
	for i := range f.sets {
		if len(f.sets[i].columns) > 1 {
			all = append(all, target{set: &f.sets[i]})
		}
	}
	slices.SortStableFunc(all, func(a, b target) int { return len(a.columns) - len(b.columns) })
	for from := 0; from < len(all); {
		to := from
		for to < len(all) && len(all[to].columns) == len(all[from].columns) {
			to++
		}
		known := all[:from]
		parallel.Each(2, to-from, func(i int) {
			if ctx.Err() == nil {
				f.project(ctx, &all[from+i], known)
			}
		})
		from = to
	}
	return all
}

// project projects a set, given the targets of smaller ones.
func (f *fixed) project(ctx context.Context, t *target, smaller []target) {
	variance := float64(t.sigma * t.sigma)
	var margins []marginal
	for at, column := range t.columns {
		c := &f.columns[column]
		margins = append(margins, marginal{of: t.along(at, identity[int](t.sizes[at])), sums: c.coarser(t.split[at])})
	}
	for i := range smaller {
		if m, ok := f.within(t, &smaller[i], variance); ok {
			margins = append(margins, m)
		}
	}
	t.cells, _ = nearest(ctx, t.counts, nil, margins, 0)
	exactly(t.cells, f.rows())
}

// within is what a smaller target asks of a set: false where the set does not hold it.
func (f *fixed) within(t *target, smaller *target, variance float64) (marginal, bool) {
	axes, of := make([]int, len(smaller.columns)), make([][]int, len(smaller.columns))
	for i, column := range smaller.columns {
		at := slices.Index(t.columns, column)
		if at < 0 {
			return marginal{}, false
		}
		c := &f.columns[column]
		nested, ok := nestedIn(c.partitions[t.split[at]], c.partitions[smaller.split[i]], t.sizes[at])
		if !ok {
			return marginal{}, false
		}
		axes[i], of[i] = at, nested
	}
	slack := float64(smaller.sigma*smaller.sigma) / variance
	m := marginal{of: make([]int32, len(t.counts)), sums: smaller.cells,
		slack: slices.Repeat([]float64{slack}, len(smaller.cells))}
	for i, at := range axes {
		for cell, own := range t.along(at, of[i]) {
			m.of[cell] = m.of[cell]*int32(smaller.sizes[i]) + own
		}
	}
	return m, true
}

// along is of each cell of a set the class that its category of a column, the at-th, lies in.
func (s *set) along(at int, of []int) []int32 {
	out, step := make([]int32, len(s.counts)), product(s.sizes[at+1:])
	for cell := range out {
		out[cell] = int32(of[cell/step%s.sizes[at]])
	}
	return out
}

// nestedIn finds the class of a coarse division in which each of the classes of a fine one lies; false where one lies
// in several.
func nestedIn(fine, coarse []int, classes int) ([]int, bool) {
	out := make([]int, classes)
	for i := range out {
		out[i] = -1
	}
	for i, class := range fine {
		if out[class] >= 0 && out[class] != coarse[i] {
			return nil, false
		}
		out[class] = coarse[i]
	}
	for i, class := range out {
		if class < 0 { // no category is in it
			out[i] = 0
		}
	}
	return out, true
}
