package synth

import (
	"context"
	"math"
	"slices"
)

// This file holds a column of microdata as the tables count it: by its categories, or by levels of them.

// column divides categories into the finest classes that any set distinguishes, which are the classes of the model, and
// says how each set merges these. Nothing that is known distinguishes the categories of one class, so they get equal
// shares of it.
type column struct {
	classes
	partitions [][]int   // by finest class: its class in the partition; the first is the finest itself
	sizes      []int     // number of classes of each partition
	counts     []float64 // of the finest classes: nonnegative, with the total of the model
	sums       []columnSums
}

// newColumn finds the classes of a column, and records for each set by which partition it divides the column.
func newColumn(place, categories int, sets []set) column {
	finest, n := make([]int, categories), 1
	var all [][]int
	each := func(found func(s *set, at int, of []int)) {
		for i := range sets {
			s := &sets[i]
			if at := slices.Index(s.columns, place); at >= 0 {
				of := s.of[at]
				if of == nil {
					of = identity[int](categories)
				}
				found(s, at, of)
			}
		}
	}
	each(func(_ *set, _ int, of []int) {
		if !slices.ContainsFunc(all, func(other []int) bool { return slices.Equal(of, other) }) {
			all = append(all, of)
			finest, n = refine(finest, of)
		}
	})
	for _, of := range all { // if one set has the finest partition, use its order
		if slices.Max(of)+1 == n {
			finest = of
			break
		}
	}
	c := column{classes: equalParts(finest, n), partitions: [][]int{identity[int](n)}, sizes: []int{n}}
	each(func(s *set, at int, of []int) {
		own := make([]int, n)
		for category, class := range finest {
			own[class] = of[category]
		}
		split := slices.IndexFunc(c.partitions, func(other []int) bool { return slices.Equal(own, other) })
		if split < 0 {
			split = len(c.partitions)
			c.partitions, c.sizes = append(c.partitions, own), append(c.sizes, s.sizes[at])
		}
		if s.split == nil {
			s.split = make([]int, len(s.columns))
		}
		s.split[at] = split
	})
	return c
}

// refine returns the coarsest partition that refines two partitions, numbered in order of appearance.
func refine(a, b []int) (of []int, n int) {
	of = make([]int, len(a))
	places := map[[2]int]int{}
	for i := range a {
		class, found := places[[2]int{a[i], b[i]}]
		if !found {
			class = len(places)
			places[[2]int{a[i], b[i]}] = class
		}
		of[i] = class
	}
	return of, len(places)
}

// equalParts returns classes whose categories have equal shares.
func equalParts(of []int, n int) classes {
	c := classes{of: of, size: make([]float64, n), share: make([]float64, len(of))}
	for _, class := range of {
		c.size[class]++
	}
	for i, class := range of {
		c.share[i] = 1 / c.size[class]
	}
	return c
}

// fitColumn fits the counts of the i-th column: nonnegative, with the total of the model, and nearest to all that sets
// say of it in least squares weighted by inverse variance.
func (f *fixedEstimates) fitColumn(ctx context.Context, i int) {
	c := &f.columns[i]
	for k := range f.sets {
		if at := slices.Index(f.sets[k].columns, i); at >= 0 {
			c.sums = f.addSums(c.sums, &f.sets[k], at)
		}
	}
	total, y, variance := f.modelRows(), make([]float64, c.sizes[0]), 0.0
	said := make([]pool, len(y))
	for _, one := range c.sums {
		for class, x := range one.counts {
			if one.split == 0 {
				said[class].add(x, one.variance)
			}
		}
	}
	for class, p := range said {
		// only coarser levels were counted: assume equal counts
		if y[class], variance = p.mean, 1/p.precision; p.precision == 0 {
			y[class], variance = float64(total*(c.size[class]/float64(len(c.of)))), float64(total*total)
		}
	}
	margins := []marginal{{of: make([]int32, len(y)), sums: []float64{total}}}
	for _, one := range c.sums {
		if one.split == 0 {
			continue
		}
		margins = append(margins, marginal{of: toInt32(c.partitions[one.split]), sums: one.counts,
			slack: slices.Repeat([]float64{one.variance / variance}, len(one.counts))})
	}
	if c.counts = make([]float64, len(y)); len(margins) == 1 {
		projectOnSimplex(c.counts, y, slices.Repeat([]float64{1}, len(y)), total, math.NaN())
	} else {
		c.counts, _ = projectOnMargins(ctx, y, nil, margins, 0)
	}
	scaleToTotal(c.counts, total)
}

// modelRows returns the number of rows of a model, at least one.
func (f *fixedEstimates) modelRows() float64 { return max(f.total.mean, 1) }

// scaleToTotal scales counts to a total that they have except for rounding. If noise is so much larger than the total
// that rounding has left none of it, all counts become equal.
func scaleToTotal(counts []float64, total float64) {
	s := sum(counts)
	for i := range counts {
		if s > 0 {
			counts[i] *= total / s
		} else {
			counts[i] = total / float64(len(counts))
		}
	}
}

func toInt32(of []int) []int32 {
	out := make([]int32, len(of))
	for i, class := range of {
		out[i] = int32(class)
	}
	return out
}

// countsBy returns the counts of a column by one of its partitions.
func (c *column) countsBy(split int) []float64 {
	out := make([]float64, c.sizes[split])
	for class, of := range c.partitions[split] {
		out[of] += c.counts[class]
	}
	return out
}
