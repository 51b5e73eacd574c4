package graphical

import (
	"slices"

	"github.com/dprelease/dprelease/internal/parallel"
)

// This file holds the algebra of tables over cliques: sums over some attributes, and products cell by cell, of one
// large table and many small ones at once.

// A sweep goes once over the cells of a large table, row by row, and with them over those of small tables, each of some
// of its attributes. A row is the cells that differ in the last axis alone; attributes that no small table tells apart
// are one axis.
type sweep struct {
	sizes []int // of the axes but the last, the slowest first
	below int   // rows under one place of the first of them
	row   int   // cells of a row
	views []view
}

// view is how a small table lies in the large one.
type view struct {
	// by axis: from the cell of one row to that of the next, where that axis moves on and those behind it begin anew
	next  []int
	first int  // from one place of the first axis to the next
	along bool // a row has a cell for each of its own; else it has one cell for all
	cells int
}

// operand is a small table in a sweep: a factor of the large one's cells, or what they are added to.
type operand struct {
	view   int
	values []float64
}

// newSweep is the sweep over a table whose axes are the attributes of a clique in some order, the last of them the last
// of the clique, with those of small cliques.
func newSweep(d Domain, order []int, small ...Clique) *sweep {
	s := &sweep{below: 1, row: 1, views: make([]view, len(small))}
	steps := make([][]int, len(small)) // of each small table, by axis of the large one
	for i, c := range small {
		s.views[i].cells = int(d.Cells(c))
		steps[i] = make([]int, 0, len(order))
	}
	var sizes []int
	for _, a := range order {
		if d[a] == 1 {
			continue
		}
		one := true // with the axis before
		of := make([]int, len(small))
		for i, c := range small {
			if at, found := slices.BinarySearch(c, a); found {
				of[i] = int(d.Cells(c[at+1:]))
			}
			one = one && len(sizes) > 0 && steps[i][len(sizes)-1] == of[i]*d[a]
		}
		if one && len(small) > 0 {
			sizes[len(sizes)-1] *= d[a]
		} else {
			sizes = append(sizes, d[a])
		}
		for i := range small {
			steps[i] = append(steps[i][:len(sizes)-1], of[i])
		}
	}
	if n := len(sizes); n > 0 {
		s.sizes, s.row = sizes[:n-1], sizes[n-1]
		for i := range s.views {
			s.views[i].see(steps[i], s.sizes)
		}
	}
	for _, n := range s.sizes[min(1, len(s.sizes)):] {
		s.below *= n
	}
	return s
}

// see sets a view by the steps of its table along all axes, whose sizes but the last are given.
func (v *view) see(steps, sizes []int) {
	v.along = steps[len(sizes)] == 1
	v.next = make([]int, len(sizes))
	back := 0
	for k := len(sizes) - 1; k >= 0; k-- {
		v.next[k] = steps[k] - back
		back += steps[k] * (sizes[k] - 1)
	}
	if len(sizes) > 0 {
		v.first = steps[0]
	}
}

// divided is the cells from which on a sweep is made by two goroutines.
const divided = 1 << 14

// run sets out to the cells of in, nil for ones, times a constant and all factors, and adds them to the sums. out may
// be in, and nil where there are no factors and the constant is 1. A large table is done in two halves, whatever runs
// at once, and what both add to is summed half by half.
func (s *sweep) run(out, in []float64, constant float64, factors, sums []operand) {
	if len(s.sizes) == 0 {
		s.part(0, 1, out, in, constant, factors, sums)
		return
	}
	n := s.sizes[0]
	if n*s.below*s.row < divided {
		s.part(0, n, out, in, constant, factors, sums)
		return
	}
	second := slices.Clone(sums)
	for i, o := range sums {
		if v := s.views[o.view]; v.first == 0 {
			second[i].values = make([]float64, v.cells)
		}
	}
	parallel.Each(2, 2, func(half int) {
		if half == 0 {
			s.part(0, n/2, out, in, constant, factors, sums)
		} else {
			s.part(n/2, n, out, in, constant, factors, second)
		}
	})
	for i, o := range sums {
		if s.views[o.view].first == 0 {
			for j, x := range second[i].values {
				o.values[j] += x
			}
		}
	}
}

// cursor is the place of a sweep in a small table.
type cursor struct {
	values []float64
	next   []int
	at     int
}

// cursors are those of operands at a place of the first axis: first those with a cell for each of a row, of which there
// are along.
func (s *sweep) cursors(operands []operand, from int) (all []cursor, along int) {
	all = make([]cursor, 0, len(operands))
	for _, want := range []bool{true, false} {
		for _, o := range operands {
			if v := s.views[o.view]; v.along == want {
				all = append(all, cursor{o.values, v.next, from * v.first})
			}
		}
		if want {
			along = len(all)
		}
	}
	return all, along
}

// part does the rows of some places of the first axis.
func (s *sweep) part(from, to int, out, in []float64, constant float64, factors, sums []operand) {
	multiply, alongFactors := s.cursors(factors, from)
	add, alongSums := s.cursors(sums, from)
	rowFactors, rowSums := multiply[:alongFactors], add[:alongSums]
	oneFactors, oneSums := multiply[alongFactors:], add[alongSums:]
	n, places := s.row, make([]int, len(s.sizes))
	for at, end := from*s.below*n, to*s.below*n; at < end; at += n {
		var row []float64
		if out == nil {
			row = in[at : at+n]
		} else {
			row = out[at : at+n]
			f := constant
			for i := range oneFactors {
				f *= oneFactors[i].values[oneFactors[i].at]
			}
			if in == nil {
				fill(row, f)
				multiplyAll(row, rowFactors)
			} else {
				product(row, in[at:at+n], f, rowFactors)
			}
		}
		for i := range rowSums {
			c := &rowSums[i]
			accumulate(c.values[c.at:c.at+n], row)
		}
		if len(oneSums) > 0 {
			all := sum(row)
			for i := range oneSums {
				oneSums[i].values[oneSums[i].at] += all
			}
		}
		k := len(places) - 1
		for ; k > 0 && places[k] == s.sizes[k]-1; k-- {
			places[k] = 0
		}
		if k < 0 {
			return
		}
		places[k]++
		for i := range multiply {
			multiply[i].at += multiply[i].next[k]
		}
		for i := range add {
			add[i].at += add[i].next[k]
		}
	}
}

func fill(x []float64, v float64) {
	for i := range x {
		x[i] = v
	}
}

// product sets out to x·f times the cells of all factors of a row.
func product(out, x []float64, f float64, factors []cursor) {
	x = x[:len(out)]
	switch len(factors) {
	case 0:
		for i := range out {
			out[i] = x[i] * f
		}
	case 1:
		a := factors[0].values[factors[0].at:][:len(out)]
		for i := range out {
			out[i] = x[i] * f * a[i]
		}
	default:
		a, b := factors[0].values[factors[0].at:][:len(out)], factors[1].values[factors[1].at:][:len(out)]
		for i := range out {
			out[i] = (x[i] * f) * (a[i] * b[i])
		}
		multiplyAll(out, factors[2:])
	}
}

// multiplyAll multiplies a row by the cells of factors.
func multiplyAll(out []float64, factors []cursor) {
	for ; len(factors) > 1; factors = factors[2:] {
		a, b := factors[0].values[factors[0].at:][:len(out)], factors[1].values[factors[1].at:][:len(out)]
		for i := range out {
			out[i] *= a[i] * b[i]
		}
	}
	if len(factors) == 1 {
		a := factors[0].values[factors[0].at:][:len(out)]
		for i := range out {
			out[i] *= a[i]
		}
	}
}

func accumulate(to, x []float64) {
	x = x[:len(to)]
	for i := range to {
		to[i] += x[i]
	}
}

// rows calls visit with the first cell of every row, in order, and with the cell of a small table that belongs to it.
func (s *sweep) rows(of int, visit func(large, small int)) {
	v, at, small, places := s.views[of], 0, 0, make([]int, len(s.sizes))
	for {
		visit(at, small)
		k := len(places) - 1
		for ; k >= 0 && places[k] == s.sizes[k]-1; k-- {
			places[k] = 0
		}
		if k < 0 {
			return
		}
		places[k]++
		at += s.row
		small += v.next[k]
	}
}

// pairs calls visit with every cell of the large table and that of a small one that it belongs to.
func (s *sweep) pairs(of int, visit func(large, small int)) {
	step := 0
	if s.views[of].along {
		step = 1
	}
	s.rows(of, func(large, small int) {
		for i := range s.row {
			visit(large+i, small+i*step)
		}
	})
}

// project is the sum of a table, whose axes are given, over the attributes that a clique does not have.
func project(d Domain, axes []int, table []float64, onto Clique) []float64 {
	out := make([]float64, int(d.Cells(onto)))
	newSweep(d, axes, onto).run(nil, table, 1, nil, []operand{{0, out}})
	return out
}

// sum is Σ x, in four interleaved parts.
func sum(x []float64) float64 {
	var a, b, c, e float64
	for len(x) >= 4 {
		a, b, c, e = a+x[0], b+x[1], c+x[2], e+x[3]
		x = x[4:]
	}
	for _, v := range x {
		a += v
	}
	return (a + b) + (c + e)
}

func scale(x []float64, by float64) {
	for i := range x {
		x[i] *= by
	}
}
