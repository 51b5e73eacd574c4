package synth

import (
	"context"
	"slices"

	"github.com/dprelease/dprelease/internal/parallel"
	"github.com/dprelease/dprelease/internal/progress"
)

// This file holds targets: the counts of sets of columns that the rows are to have.

// target is possible counts of a set of columns: nonnegative, with the total of the model, and with the counts of
// single columns that all targets share.
type target struct {
	*set
	cells []float64
}

// projectTargets projects what is known of each set of two columns or more. The total and single columns
// ([fixedEstimates.fitColumn]), which are known best, stay fixed; the sets follow by their number of columns. A set
// stays near the smaller targets that it contains, weighted by inverse variance. If all were fitted together by their
// variances, cells below zero would distort the well-known sums. It ends with the context: remaining targets then have
// no cells.
func (f *fixedEstimates) projectTargets(ctx context.Context) []target {
	var all []target
	for i := range f.sets {
		if len(f.sets[i].columns) > 1 {
			all = append(all, target{set: &f.sets[i]})
		}
	}
	slices.SortStableFunc(all, func(a, b target) int { return len(a.columns) - len(b.columns) })
	progress.SetParts(ctx, int64(len(all)))
	for from := 0; from < len(all); {
		to := from
		for to < len(all) && len(all[to].columns) == len(all[from].columns) {
			to++
		}
		known := all[:from]
		parallel.Each(2, to-from, func(i int) {
			if ctx.Err() == nil {
				f.projectTarget(ctx, &all[from+i], known)
				progress.Add(ctx, 1)
			}
		})
		from = to
	}
	return all
}

// projectTarget projects a set, given the targets of smaller ones.
func (f *fixedEstimates) projectTarget(ctx context.Context, t *target, smaller []target) {
	variance := float64(t.sigma * t.sigma)
	var margins []marginal
	for at, column := range t.columns {
		c := &f.columns[column]
		margins = append(margins, marginal{of: t.cellClasses(at, identity[int](t.sizes[at])),
			sums: c.countsBy(t.split[at])})
	}
	for i := range smaller {
		if m, ok := f.marginFrom(t, &smaller[i], variance); ok {
			margins = append(margins, m)
		}
	}
	t.cells, _ = projectOnMargins(ctx, t.counts, nil, margins, 0)
	scaleToTotal(t.cells, f.modelRows())
}

// marginFrom returns the margin of a set that stays near a smaller target, or false if the set does not contain it.
func (f *fixedEstimates) marginFrom(t *target, smaller *target, variance float64) (marginal, bool) {
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
		for cell, own := range t.cellClasses(at, of[i]) {
			m.of[cell] = m.of[cell]*int32(smaller.sizes[i]) + own
		}
	}
	return m, true
}

// cellClasses returns, for each cell of a set, the class of its category of the at-th column.
func (s *set) cellClasses(at int, of []int) []int32 {
	out, step := make([]int32, len(s.counts)), product(s.sizes[at+1:])
	for cell := range out {
		out[cell] = int32(of[cell/step%s.sizes[at]])
	}
	return out
}

// nestedIn returns, for each class of a fine partition, the class of a coarse one that contains it, or false if one
// lies in several.
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
