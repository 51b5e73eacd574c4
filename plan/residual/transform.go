package residual

import (
	"errors"
	"math/bits"
	"slices"
)

// This file holds the residuals as numbers: from counts to the exact integers that are measured, and from noisy ones
// back to cells. Arrays are row-major over the axes of a set, in its order: the last one's categories change fastest.

// ErrOverflow is the error for integers that a 64-bit number cannot hold.
var ErrOverflow = errors.New("the counts are too large for the integers of this strategy")

// Exact turns the counts of a set's marginal into the integers that are measured: residuals along its axes, but
// counts along plain ones (nil: none). It works in the slice that it is given, and returns another, shorter one if a
// ranged column has fewer integers than categories. It is exact unless it overflows, for which it returns
// ErrOverflow.
func Exact(columns []*Column, axes Set, plain []bool, counts []int64) ([]int64, error) {
	stride := 1
	for i := len(axes) - 1; i >= 0; i-- {
		column, level := columns[axes[i].Column], axes[i].Level
		l := column.levels[level]
		var err error
		switch {
		case plain != nil && plain[i]:
			stride *= l.size
			continue
		case column.ranged != nil:
			counts, err = column.ranged.MeasureAll(counts, stride)
		default:
			err = l.measureAxis(counts, stride)
		}
		if err != nil {
			return nil, ErrOverflow
		}
		stride *= column.Integers(level)
	}
	return counts, nil
}

// measureAxis applies c_p·(g·x_j − Σ_{i in p} x_i) along an axis whose neighbours are stride apart.
func (l level) measureAxis(x []int64, stride int) error {
	sums := make([]int64, l.parentCount()*stride)
	for base := 0; base < len(x); base += stride * l.size {
		block := x[base : base+stride*l.size]
		clear(sums)
		for j, p := range l.parent {
			of := sums[p*stride : (p+1)*stride]
			for i, v := range block[j*stride : (j+1)*stride] {
				sum, ok := addChecked(of[i], v)
				if !ok {
					return ErrOverflow
				}
				of[i] = sum
			}
		}
		for j, p := range l.parent {
			of, row := sums[p*stride:(p+1)*stride], block[j*stride:(j+1)*stride]
			for i, v := range row {
				scaled, ok := timesChecked(v, int64(l.group[j]))
				if !ok {
					return ErrOverflow
				}
				if scaled, ok = addChecked(scaled, -of[i]); !ok {
					return ErrOverflow
				}
				if row[i], ok = timesChecked(scaled, l.scale[j]); !ok {
					return ErrOverflow
				}
			}
		}
	}
	return nil
}

// parentCount returns the number of categories of the level before.
func (l level) parentCount() int {
	n := 0
	for _, p := range l.parent {
		n = max(n, p+1)
	}
	return n
}

// addChecked returns a+b; it reports false if that overflows or is the least integer.
func addChecked(a, b int64) (int64, bool) {
	sum := a + b
	return sum, (a^sum)&(b^sum) >= 0 && sum != -1<<63
}

// timesChecked returns a·b for b ≥ 0; it reports false if that overflows or is the least integer.
func timesChecked(a, b int64) (int64, bool) {
	size := uint64(a)
	if a < 0 {
		size = -size
	}
	high, low := bits.Mul64(size, uint64(b))
	return a * b, high == 0 && low < 1<<63
}

// centreResidual turns noisy integers of a residual into the residual itself, in units of counts: along every axis
// (y_j − mean of y over the group)/(c_p·g), in place. The group's mean is noise only. Along an axis of a ranged
// column n−1 integers become the n categories G·z, in a new slice. Plain axes are counts of the residual's own
// categories; nil for none.
func centreResidual(columns []*Column, axes Set, plain []bool, y []float64) []float64 {
	stride := 1
	for i := len(axes) - 1; i >= 0; i-- {
		column := columns[axes[i].Column]
		l, counts := column.levels[axes[i].Level], plain != nil && plain[i]
		if column.ranged != nil && !counts {
			y = column.ranged.SolveAll(y, stride)
		} else {
			l.centreAxis(y, stride, !counts)
		}
		stride *= l.size
	}
	return y
}

// centreAxis subtracts the mean of each group along an axis, and divides by the scale of the integers if scaled is set.
func (l level) centreAxis(y []float64, stride int, scaled bool) {
	groups := make([]float64, l.parentCount()) // how many categories lie in each
	for _, p := range l.parent {
		groups[p]++
	}
	sums := make([]float64, len(groups)*stride)
	for base := 0; base < len(y); base += stride * l.size {
		block := y[base : base+stride*l.size]
		clear(sums)
		for j, p := range l.parent {
			of := sums[p*stride : (p+1)*stride]
			for i, v := range block[j*stride : (j+1)*stride] {
				of[i] += v
			}
		}
		for p, g := range groups {
			for i := range sums[p*stride : (p+1)*stride] {
				sums[p*stride+i] /= g
			}
		}
		for j, p := range l.parent {
			mean, row := sums[p*stride:(p+1)*stride], block[j*stride:(j+1)*stride]
			if !scaled {
				for i, v := range row {
					row[i] = v - mean[i]
				}
				continue
			}
			scale := float64(float64(l.scale[j]) * groups[p])
			for i, v := range row {
				row[i] = (v - mean[i]) / scale
			}
		}
	}
}

// Spread adds a residual, in units of counts, to what a marginal that contains it shows: cells, or prefix sums along
// some axes. The marginal's axes may be in any order.
func Spread(columns []*Column, marginal, axes Set, residual, cells []float64) {
	var have, order []int
	for _, r := range axes {
		have = append(have, columns[r.Column].Size(r.Level))
	}
	sizes, parts, levels := make([]int, len(marginal)), make([][]float64, len(marginal)), make([]int, len(marginal))
	for i, a := range marginal {
		sizes[i] = columns[a.Column].Size(a.Level)
		if at := slices.IndexFunc(axes, func(r Axis) bool { return r.Column == a.Column }); at >= 0 {
			order, levels[i] = append(order, at), axes[at].Level
		} else {
			parts[i] = columns[a.Column].totalParts(a)
		}
	}
	x := permuted(residual, have, order)
	stride := 1
	for i := len(marginal) - 1; i >= 0; i-- {
		if parts[i] == nil {
			x = columns[marginal[i].Column].rowsOf(marginal[i], levels[i], x, stride)
			stride *= sizes[i]
		}
	}
	spreadOver(cells, x, sizes, parts)
}

// totalParts returns the part of the total that each row of an axis has.
func (c *Column) totalParts(a Axis) []float64 {
	var out []float64
	if c.ranged != nil {
		out = make([]float64, c.Size(a.Level))
		for j, s := range c.finestTo(a.Level) {
			out[s] += c.ranged.figures.Tilt[j]
		}
	} else {
		_, out = c.spreadLevel(a.Level, 0)
	}
	if a.Sums == Prefixes {
		accumulate(out, 1)
	}
	return out
}

// rowsOf turns the categories of the residual of a level into the rows of an axis.
func (c *Column) rowsOf(a Axis, level int, x []float64, stride int) []float64 {
	if a.Level == level && a.Sums != Prefixes {
		return x
	}
	of, part, coarser := []int(nil), []float64(nil), c.ranged != nil
	if coarser {
		of = c.finestTo(a.Level)
	} else {
		of, part = c.spreadLevel(a.Level, level)
	}
	rows := c.Size(a.Level)
	return transformRows(x, c.Size(level), rows, stride, func(to, from []float64) {
		for j, s := range of {
			if coarser { // row s has category j
				for i, v := range from[j*stride : (j+1)*stride] {
					to[s*stride+i] += v
				}
				continue
			}
			for i, v := range from[s*stride : (s+1)*stride] { // row j lies in category s
				to[j*stride+i] = float64(v * part[j])
			}
		}
		if a.Sums == Prefixes {
			accumulate(to, stride)
		}
	})
}
