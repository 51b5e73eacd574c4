package synth

import (
	"maps"
	"math"
	"slices"

	"github.com/dprelease/dprelease/plan/residual"
)

// This file holds the ladder: a table's axis as the residuals of its column see it, from the total down.

// rung is one level of a column, up to that of an axis.
type rung struct {
	of    []int     // of each category of the axis: the category of this level that it lies in
	part  []float64 // and its part of that
	group []int     // of each category of this level: its group, the category of the level before
	size  []float64 // by group: how many categories lie in it
	scale []float64 // by group: c·g, by which the integers of a residual are larger than counts
	total bool
}

// ladder are the rungs of an axis, from the total on.
//
// They are read off the transforms themselves, so that they say what these do: a residual that is 1 everywhere spreads
// as the parts alone, and one that numbers the categories tells, divided by the parts, where each went.
func ladder(columns []*residual.Column, axis residual.Axis) []rung {
	out := make([]rung, axis.Level+1)
	for level := range out {
		r := rung{total: level == 0}
		r.of, r.part = spread(columns, axis, level)
		if level == 0 {
			r.group, r.size, r.scale = []int{0}, []float64{1}, []float64{1}
			out[level] = r
			continue
		}
		at := residual.Axis{Column: axis.Column, Level: level}
		r.group, _ = spread(columns, at, level-1)
		parents := 1
		if level > 1 {
			parents = columns[axis.Column].Size(level - 1)
		}
		r.size, r.scale = make([]float64, parents), make([]float64, parents)
		first := make([]float64, len(r.group)) // 1 at the first category of each group
		for j, p := range r.group {
			if r.size[p] == 0 {
				first[j] = 1
			}
			r.size[p]++
		}
		centred := append([]float64{}, first...)
		residual.Centre(columns, residual.Set{at}, centred)
		for j, p := range r.group {
			if first[j] == 1 { // centred is (1 − 1/g)/(c·g)
				r.scale[p] = 1
				if g := r.size[p]; g > 1 {
					r.scale[p] = math.Floor((1-1/g)/centred[j] + 0.5)
				}
			}
		}
		out[level] = r
	}
	return out
}

// spread maps the categories of an axis to those of a level of its column, 0 for the total, each with its part.
func spread(columns []*residual.Column, axis residual.Axis, level int) (of []int, part []float64) {
	n, axes := 1, residual.Set{}
	if level > 0 {
		n, axes = columns[axis.Column].Size(level), residual.Set{{Column: axis.Column, Level: level}}
	}
	ones, numbers := make([]float64, n), make([]float64, n)
	for j := range ones {
		ones[j], numbers[j] = 1, float64(j)
	}
	size := columns[axis.Column].Size(axis.Level)
	part = make([]float64, size)
	place := make([]float64, size)
	residual.Spread(columns, residual.Set{axis}, axes, ones, part)
	residual.Spread(columns, residual.Set{axis}, axes, numbers, place)
	of = make([]int, size)
	for j := range of {
		of[j] = int(math.Floor(place[j]/part[j] + 0.5))
	}
	return of, part
}

// grouped are the coefficients by which a sum over selected categories rests on the categories of this level, by
// group; those that it does not rest on are left out.
func (r rung) grouped(selected []int) map[int][]float64 {
	b := make(map[int]float64, len(selected))
	var order []int
	for _, s := range selected {
		j := r.of[s]
		if _, ok := b[j]; !ok {
			order = append(order, j)
		}
		b[j] += r.part[s]
	}
	out := map[int][]float64{}
	for _, j := range order {
		out[r.group[j]] = append(out[r.group[j]], b[j])
	}
	return out
}

// squares is what noise of variance 1 on the integers of this level's residual adds to the variance of a sum over
// selected categories: Σ_groups (Σb² − (Σb)²/g)/(c·g)², and (Σ part)² for the total.
func (r rung) squares(selected []int) float64 {
	if r.total {
		b := r.sum(selected)
		return b * b
	}
	var out float64
	groups := r.grouped(selected)
	for _, group := range slices.Sorted(maps.Keys(groups)) { // in one order, so that the bits are the same every time
		out += meanSquare(groups[group], r.size[group]) / float64(r.scale[group]*r.scale[group])
	}
	return out
}

// meanSquare is Σb² − (Σb)²/g over a group of g, as the sum of squared distances from the mean; those not in b are 0.
func meanSquare(b []float64, g float64) float64 {
	var sum, squares float64
	for _, v := range b {
		sum += v
	}
	mean := sum / g
	for _, v := range b {
		squares += float64((v - mean) * (v - mean))
	}
	return squares + float64(float64((g-float64(len(b)))*mean)*mean)
}

// sum is what a sum over selected categories takes of the total.
func (r rung) sum(selected []int) float64 {
	var b float64
	for _, s := range selected {
		b += r.part[s]
	}
	return b
}

// weights are the coefficients of a sum over selected categories on every category of this level, less their mean over
// each group; divided by the scale of the integers of a residual if so asked.
func (r rung) weights(selected []int, scaled bool) []float64 {
	out := make([]float64, len(r.group))
	for _, s := range selected {
		out[r.of[s]] += r.part[s]
	}
	sums := make([]float64, len(r.size))
	for j, b := range out {
		sums[r.group[j]] += b
	}
	for j, p := range r.group {
		out[j] -= sums[p] / r.size[p]
		if scaled {
			out[j] /= r.scale[p]
		}
	}
	return out
}

// levelIn is at which level a residual has the column of an axis, 0 for none.
func levelIn(residual residual.Set, axis residual.Axis) int {
	for _, r := range residual {
		if r.Column == axis.Column {
			return r.Level
		}
	}
	return 0
}
