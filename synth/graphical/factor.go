package graphical

import (
	"slices"

	"github.com/dprelease/dprelease/internal/parallel"
)

// This file holds the algebra of tables over cliques: sums over some attributes and cell-by-cell products of one large
// table with many small ones at once.

// sweep goes once over the cells of a large table, row by row, together with the cells of small tables over some of its
// attributes. A row is a run of cells that differ only in the last axis. Adjacent attributes that every small table
// treats as one are merged into one axis.
type sweep struct {
	sizes     []int // of all axes but the last, the slowest first
	rowsBelow int   // rows for each index of the first axis
	row       int   // cells of a row
	views     []view
}

// view says how the cells of a small table correspond to those of the large one.
type view struct {
	// by axis: the step from the cell of one row to that of the next, when that axis advances and those after it
	// restart
	next  []int
	first int  // step from one index of the first axis to the next
	along bool // each cell of a row has its own cell in the small table; otherwise a row has one cell for all
	cells int
}

// operand is a small table in a sweep: either a factor of the large table's cells, or a table to which they are added.
type operand struct {
	view   int
	values []float64
}

// newSweep returns the sweep over a table whose axes are the attributes of a clique in this order, with small tables
// over these cliques. The last axis must be the last attribute of the clique.
func newSweep(d Domain, order []int, small ...Clique) *sweep {
	s := &sweep{rowsBelow: 1, row: 1, views: make([]view, len(small))}
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
		merges := true // whether this axis merges with the one before
		of := make([]int, len(small))
		for i, c := range small {
			if at, found := slices.BinarySearch(c, a); found {
				of[i] = int(d.Cells(c[at+1:]))
			}
			merges = merges && len(sizes) > 0 && steps[i][len(sizes)-1] == of[i]*d[a]
		}
		if merges && len(small) > 0 {
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
			s.views[i].setSteps(steps[i], s.sizes)
		}
	}
	for _, n := range s.sizes[min(1, len(s.sizes)):] {
		s.rowsBelow *= n
	}
	return s
}

// setSteps sets a view from the steps of its table along all axes. sizes lists the sizes of all axes but the last.
func (v *view) setSteps(steps, sizes []int) {
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

// dividedCells is the number of cells from which a sweep is divided between two goroutines.
const dividedCells = 1 << 14

// run sets out to the cells of in (nil stands for ones) times a constant and all factors, and adds the results to the
// sums. out may be in, and may be nil if there are no factors and the constant is 1. A large table is always processed
// in two halves whose sums are added afterwards, so that the result does not depend on how many goroutines run.
func (s *sweep) run(out, in []float64, constant float64, factors, sums []operand) {
	if len(s.sizes) == 0 {
		s.runRows(0, 1, out, in, constant, factors, sums)
		return
	}
	n := s.sizes[0]
	if n*s.rowsBelow*s.row < dividedCells {
		s.runRows(0, n, out, in, constant, factors, sums)
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
			s.runRows(0, n/2, out, in, constant, factors, sums)
		} else {
			s.runRows(n/2, n, out, in, constant, factors, second)
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

// cursor is the position of a sweep in a small table.
type cursor struct {
	values []float64
	next   []int
	at     int
}

// cursorsAt returns the cursors of operands at an index of the first axis. The first of them, along in number, have a
// cell of their own for each cell of a row.
func (s *sweep) cursorsAt(operands []operand, from int) (all []cursor, along int) {
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

// runRows processes the rows of a range of indexes of the first axis.
func (s *sweep) runRows(from, to int, out, in []float64, constant float64, factors, sums []operand) {
	multiply, alongFactors := s.cursorsAt(factors, from)
	add, alongSums := s.cursorsAt(sums, from)
	rowFactors, rowSums := multiply[:alongFactors], add[:alongSums]
	oneFactors, oneSums := multiply[alongFactors:], add[alongSums:]
	n, indexes := s.row, make([]int, len(s.sizes))
	for at, end := from*s.rowsBelow*n, to*s.rowsBelow*n; at < end; at += n {
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
				fillWith(row, f)
				multiplyAll(row, rowFactors)
			} else {
				productRow(row, in[at:at+n], f, rowFactors)
			}
		}
		for i := range rowSums {
			c := &rowSums[i]
			addRow(c.values[c.at:c.at+n], row)
		}
		if len(oneSums) > 0 {
			all := sum(row)
			for i := range oneSums {
				oneSums[i].values[oneSums[i].at] += all
			}
		}
		k := len(indexes) - 1
		for ; k > 0 && indexes[k] == s.sizes[k]-1; k-- {
			indexes[k] = 0
		}
		if k < 0 {
			return
		}
		indexes[k]++
		for i := range multiply {
			multiply[i].at += multiply[i].next[k]
		}
		for i := range add {
			add[i].at += add[i].next[k]
		}
	}
}

func fillWith(x []float64, v float64) {
	for i := range x {
		x[i] = v
	}
}

// productRow sets out to x·f times the cells of all factors of a row.
func productRow(out, x []float64, f float64, factors []cursor) {
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

func addRow(to, x []float64) {
	x = x[:len(to)]
	for i := range to {
		to[i] += x[i]
	}
}

// visitRows calls visit with the first cell of every row, in order, and with the cell of a small table onto which it
// projects.
func (s *sweep) visitRows(of int, visit func(large, small int)) {
	v, at, small, indexes := s.views[of], 0, 0, make([]int, len(s.sizes))
	for {
		visit(at, small)
		k := len(indexes) - 1
		for ; k >= 0 && indexes[k] == s.sizes[k]-1; k-- {
			indexes[k] = 0
		}
		if k < 0 {
			return
		}
		indexes[k]++
		at += s.row
		small += v.next[k]
	}
}

// visitCells calls visit with every cell of the large table and the cell of a small table onto which it projects.
func (s *sweep) visitCells(of int, visit func(large, small int)) {
	step := 0
	if s.views[of].along {
		step = 1
	}
	s.visitRows(of, func(large, small int) {
		for i := range s.row {
			visit(large+i, small+i*step)
		}
	})
}

// marginalTable returns the sums of a table, whose axes are given, over the attributes that a clique does not have.
func marginalTable(d Domain, axes []int, table []float64, onto Clique) []float64 {
	out := make([]float64, int(d.Cells(onto)))
	newSweep(d, axes, onto).run(nil, table, 1, nil, []operand{{0, out}})
	return out
}

// sum returns Σ x, in four interleaved parts.
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
