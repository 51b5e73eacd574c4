package synth

import (
	"context"
	"math"
)

// This file holds the fit of a table of two columns with known counts of either column.

// coupling fits a table of two columns to noisy counts: the nonnegative table with the given sums of rows and columns
// that is nearest in least squares. Rows and columns are classes of categories: noisy holds the mean noisy count of a
// cell of the two classes, which is weighted by the number of cells that it stands for.
type coupling struct {
	noisy              []float64 // row-major
	rowSize, colSize   []float64
	rowTotal, colTotal []float64 // counts; rows and columns have the same total
}

const (
	couplingSteps = 200  // at most
	couplingError = 1e-9 // relative to the total; fixSums removes the rest
)

// fit returns the fitted table of counts, row-major.
//
// The solution is x_ij = a_i·b_j·max(0, t_ij + u_i + v_j) for the sizes a, b, the means t and one multiplier for every
// row and column (the dual of the least squares). Each step finds all u for the present v, each by itself, and then all
// v for these u: ascent in the dual, which converges to its only optimum. The remaining error of the sums of columns is
// at most couplingError of the total, or what is left after couplingSteps; [coupling.fixSums] removes it. No step
// begins once the context has ended.
func (c coupling) fit(ctx context.Context) []float64 {
	rows, cols := len(c.rowTotal), len(c.colTotal)
	x := make([]float64, rows*cols)
	across := newSide(c.noisy, c.rowTotal, c.rowSize, c.colTotal, c.colSize)
	down := newSide(transpose(c.noisy, cols), c.colTotal, c.colSize, c.rowTotal, c.rowSize)
	total := sum(c.rowTotal)
	for step := 0; step < couplingSteps && ctx.Err() == nil; step++ {
		across.solve(down.multipliers)
		if down.solve(across.multipliers) <= couplingError*total {
			break
		}
	}
	across.solve(down.multipliers)
	for n, i := range across.indexes {
		for m, j := range down.indexes {
			x[i*cols+j] = across.fitted[n*len(down.indexes)+m] * c.rowSize[i] * c.colSize[j]
		}
	}
	c.fixSums(x)
	return x
}

// fixSums makes the sums of a table exact: rows and then columns with too large a sum are scaled down, and what is
// missing is added as an independent table.
//
// Theorem: Altschuler, Weed & Rigollet 2017, lemma 7: the change is at most twice the L1 error of the sums.
func (c coupling) fixSums(x []float64) {
	cols := len(c.colTotal)
	for i, want := range c.rowTotal {
		scaleDown(x[i*cols:(i+1)*cols], 1, want)
	}
	for j, want := range c.colTotal {
		scaleDown(x[j:], cols, want)
	}
	rowsLeft, colsLeft := make([]float64, len(c.rowTotal)), make([]float64, cols)
	copy(rowsLeft, c.rowTotal)
	copy(colsLeft, c.colTotal)
	for i := range rowsLeft {
		for j := range colsLeft {
			rowsLeft[i] -= x[i*cols+j]
			colsLeft[j] -= x[i*cols+j]
		}
	}
	left := 0.0
	for j := range colsLeft {
		colsLeft[j] = math.Max(0, colsLeft[j])
		left += colsLeft[j]
	}
	if left <= 0 {
		return
	}
	for i := range rowsLeft {
		part := math.Max(0, rowsLeft[i]) / left
		for j := range colsLeft {
			x[i*cols+j] += float64(part * colsLeft[j])
		}
	}
}

// scaleDown scales the entries 0, stride, 2·stride … of x so that their sum is at most want.
func scaleDown(x []float64, stride int, want float64) {
	s := 0.0
	for i := 0; i < len(x); i += stride {
		s += x[i]
	}
	if s <= want {
		return
	}
	for i := 0; i < len(x); i += stride {
		x[i] = x[i] / s * want
	}
}

func transpose(x []float64, cols int) []float64 {
	rows := len(x) / cols
	out := make([]float64, len(x))
	for i := range rows {
		for j := range cols {
			out[j*rows+i] = x[i*cols+j]
		}
	}
	return out
}

// side is one side of a coupling: its lines with a positive count, each with its multiplier.
type side struct {
	indexes     []int     // index of each line in the coupling
	noisy       []float64 // line by line
	total       []float64 // of a line, divided by the size of the line
	size        []float64 // of the cells of a line, along it
	weight      []float64 // of a line
	multipliers []float64
	fitted      []float64 // line by line
	scratch     []float64
}

func newSide(noisy, total, size, crossTotal, crossSize []float64) *side {
	s := &side{}
	crossing := positiveIndexes(crossTotal)
	for i, t := range total {
		if t <= 0 {
			continue
		}
		s.indexes = append(s.indexes, i)
		s.total = append(s.total, t/size[i])
		s.weight = append(s.weight, size[i])
		for _, j := range crossing {
			s.noisy = append(s.noisy, noisy[i*len(crossTotal)+j])
		}
	}
	for _, j := range crossing {
		s.size = append(s.size, crossSize[j])
	}
	s.multipliers = make([]float64, len(s.indexes))
	s.fitted = make([]float64, len(s.noisy))
	s.scratch = make([]float64, len(crossing))
	return s
}

// positiveIndexes returns the indexes of the positive entries.
func positiveIndexes(x []float64) []int {
	var places []int
	for i, v := range x {
		if v > 0 {
			places = append(places, i)
		}
	}
	return places
}

// solve finds the multiplier of every line, given those of the other side. It returns the L1 distance of the sums of
// the lines from their totals under the previous multipliers.
func (s *side) solve(crossing []float64) (missed float64) {
	n := len(s.size)
	for i := range s.indexes {
		line := s.noisy[i*n : (i+1)*n]
		before := 0.0
		for j, m := range crossing {
			s.scratch[j] = line[j] + m
			before += float64(s.size[j] * math.Max(0, s.scratch[j]+s.multipliers[i]))
		}
		missed += float64(s.weight[i] * math.Abs(before-s.total[i]))
		s.multipliers[i] = projectOnSimplex(s.fitted[i*n:(i+1)*n], s.scratch, s.size, s.total[i], s.multipliers[i])
	}
	return missed
}
