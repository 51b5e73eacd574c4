package residual

import (
	"errors"
	"math/bits"
)

// This file holds the residuals as numbers: from counts to the exact integers that
// are measured, and from noisy ones back to cells. Arrays are row-major over the
// axes of a set, in its order: the last one's categories change fastest.

// ErrOverflow is the error for integers that a 64-bit number cannot hold.
var ErrOverflow = errors.New("the counts are too large for the integers of this strategy")

// Exact turns the counts of a set's marginal into the integers of its residual, in
// place. Apart from an overflow, which it returns as ErrOverflow, it is exact.
func Exact(columns []*Column, axes Set, counts []int64) error {
	stride := 1
	for i := len(axes) - 1; i >= 0; i-- {
		l := columns[axes[i].Column].levels[axes[i].Level]
		if err := l.exact(counts, stride); err != nil {
			return err
		}
		stride *= l.size
	}
	return nil
}

// exact applies c_p·(g·x_j − Σ_{i in p} x_i) along an axis whose neighbours lie
// stride apart.
func (l level) exact(x []int64, stride int) error {
	sums := make([]int64, l.parents())
	for base := 0; base < len(x); base += stride * l.size {
		for offset := range stride {
			clear(sums)
			fibre := x[base+offset:]
			for j, p := range l.parent {
				sum, ok := add(sums[p], fibre[j*stride])
				if !ok {
					return ErrOverflow
				}
				sums[p] = sum
			}
			for j, p := range l.parent {
				scaled, ok := times(fibre[j*stride], int64(l.group[j]))
				if !ok {
					return ErrOverflow
				}
				if scaled, ok = add(scaled, -sums[p]); !ok {
					return ErrOverflow
				}
				if fibre[j*stride], ok = times(scaled, l.scale[j]); !ok {
					return ErrOverflow
				}
			}
		}
	}
	return nil
}

// parents is the number of categories of the level before.
func (l level) parents() int {
	n := 0
	for _, p := range l.parent {
		n = max(n, p+1)
	}
	return n
}

// add is a+b, false where that overflows or is the least integer.
func add(a, b int64) (int64, bool) {
	sum := a + b
	return sum, (a^sum)&(b^sum) >= 0 && sum != -1<<63
}

// times is a·b for b ≥ 0, false where that overflows or is the least integer.
func times(a, b int64) (int64, bool) {
	size := uint64(a)
	if a < 0 {
		size = -size
	}
	high, low := bits.Mul64(size, uint64(b))
	return a * b, high == 0 && low < 1<<63
}

// Centre turns noisy integers of a residual into the residual itself, in units of
// counts, in place: along every axis (y_j − mean of y over the group)/(c_p·g). What
// the group's mean holds is noise alone.
func Centre(columns []*Column, axes Set, y []float64) {
	centre(columns, axes, y, true)
}

// CentreCounts does the same to noisy counts of the residual's own marginal.
func CentreCounts(columns []*Column, axes Set, y []float64) {
	centre(columns, axes, y, false)
}

func centre(columns []*Column, axes Set, y []float64, scaled bool) {
	stride := 1
	for i := len(axes) - 1; i >= 0; i-- {
		l := columns[axes[i].Column].levels[axes[i].Level]
		l.centre(y, stride, scaled)
		stride *= l.size
	}
}

// centre takes the mean of each group from an axis, and divides by the scale of
// the integers if so asked.
func (l level) centre(y []float64, stride int, scaled bool) {
	sums := make([]float64, l.parents())
	for base := 0; base < len(y); base += stride * l.size {
		for offset := range stride {
			clear(sums)
			fibre := y[base+offset:]
			for j, p := range l.parent {
				sums[p] += fibre[j*stride]
			}
			for j, p := range l.parent {
				g := float64(l.group[j])
				v := fibre[j*stride] - sums[p]/g
				if scaled {
					v /= float64(float64(l.scale[j]) * g)
				}
				fibre[j*stride] = v
			}
		}
	}
}

// Spread adds a residual, in units of counts, to the cells of a marginal that it is
// part of. The marginal's axes may be in any order.
func Spread(columns []*Column, marginal, axes Set, residual, cells []float64) {
	at, part := []int{0}, []float64{1}
	for _, a := range marginal {
		level, stride := 0, 0
		for i, r := range axes {
			if r.Column == a.Column {
				level, stride = r.Level, stridesAfter(columns, axes[i+1:])
			}
		}
		of, parts := columns[a.Column].spread(a.Level, level)
		nextAt, nextPart := make([]int, 0, len(at)*len(of)), make([]float64, 0, len(at)*len(of))
		for i := range at {
			for j, o := range of {
				nextAt = append(nextAt, at[i]+stride*o)
				nextPart = append(nextPart, float64(part[i]*parts[j]))
			}
		}
		at, part = nextAt, nextPart
	}
	for i := range cells {
		cells[i] += float64(residual[at[i]] * part[i])
	}
}

// stridesAfter is the number of cells of a set: the stride of the axis before it.
func stridesAfter(columns []*Column, axes Set) int {
	n := 1
	for _, a := range axes {
		n *= columns[a.Column].Size(a.Level)
	}
	return n
}
