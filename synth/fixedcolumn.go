package synth

import (
	"context"
	"math"
	"slices"
)

// This file holds a column of microdata as tables tell of it: by its categories, or by levels of them.

// column is the finest classes of categories that any set tells apart, which are the model's, and how each set divides
// these. Categories of one class are alike to all that is known, and get equal parts of it.
type column struct {
	classes
	partitions [][]int   // the class of each finest one; the first is that of itself
	sizes      []int     // classes of each partition
	counts     []float64 // of the finest classes: none negative, and of the total
	singles    []single
}

// newColumn finds the classes of a column, and tells each set by which of its partitions it divides the column.
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
			finest, n = meet(finest, of)
		}
	})
	for _, of := range all { // one that is the finest itself, in its own order
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

// meet divides categories by two divisions at once, numbered as they come.
func meet(a, b []int) (of []int, n int) {
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

// equalParts are classes whose categories have equal parts of them.
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

// learn fits the counts of the i-th column: none negative and of the total, nearest to all that sets say of it in least
// squares by inverse variance.
func (f *fixed) learn(ctx context.Context, i int) {
	c := &f.columns[i]
	for k := range f.sets {
		if at := slices.Index(f.sets[k].columns, i); at >= 0 {
			c.singles = f.add(c.singles, &f.sets[k], at)
		}
	}
	total, y, variance := f.rows(), make([]float64, c.sizes[0]), 0.0
	said := make([]pool, len(y))
	for _, one := range c.singles {
		for class, x := range one.counts {
			if one.split == 0 {
				said[class].add(x, one.variance)
			}
		}
	}
	for class, p := range said {
		if y[class], variance = p.mean, 1/p.precision; p.precision == 0 { // but for coarser levels nothing says how many
			y[class], variance = float64(total*(c.size[class]/float64(len(c.of)))), float64(total*total)
		}
	}
	margins := []marginal{{of: make([]int32, len(y)), sums: []float64{total}}}
	for _, one := range c.singles {
		if one.split == 0 {
			continue
		}
		margins = append(margins, marginal{of: narrow(c.partitions[one.split]), sums: one.counts,
			slack: slices.Repeat([]float64{one.variance / variance}, len(one.counts))})
	}
	if c.counts = make([]float64, len(y)); len(margins) == 1 {
		project(c.counts, y, slices.Repeat([]float64{1}, len(y)), total, math.NaN())
	} else {
		c.counts, _ = nearest(ctx, y, nil, margins, 0)
	}
	exactly(c.counts, total)
}

// rows is the number of rows that a model has: one at least.
func (f *fixed) rows() float64 { return max(f.total.mean, 1) }

// exactly scales counts to a total, which is where they are but for rounding. Where noise is so far beyond the total
// that rounding has left nothing of it, all are alike.
func exactly(counts []float64, total float64) {
	s := sum(counts)
	for i := range counts {
		if s > 0 {
			counts[i] *= total / s
		} else {
			counts[i] = total / float64(len(counts))
		}
	}
}

func narrow(of []int) []int32 {
	out := make([]int32, len(of))
	for i, class := range of {
		out[i] = int32(class)
	}
	return out
}

// coarser is the counts of a column by one of its partitions.
func (c *column) coarser(split int) []float64 {
	out := make([]float64, c.sizes[split])
	for class, of := range c.partitions[split] {
		out[of] += c.counts[class]
	}
	return out
}
