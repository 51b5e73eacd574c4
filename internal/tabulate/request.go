package tabulate

// This file holds the request: which columns there are and which tables are wanted.

import (
	"fmt"
	"math"
	"math/bits"
)

// Request says what is counted, and with which resources. The fields after Summed do not change a count.
type Request struct {
	Axes       []Axis
	Tables     []TableRequest
	HasAddends bool  // rows add integers of their own
	Rows       int64 // approximate number of rows; 0 if not known
	Workers    int   // largest number of workers
	Memory     int64 // bytes for tables and gathered rows; one set of dense tables is made in any case
}

// Axis is a column of codes at some coarseness.
type Axis struct {
	Column int      // index among the columns of [Worker.Add]
	Size   int      // its codes are 0 … Size−1
	CodeOf []uint32 // the axis's code for each code of the column; nil: the same code
}

// TableRequest is a table: a cell per combination of its axes, row-major, the last fastest.
type TableRequest struct {
	Axes     []int // indexes of the axes
	Occupied bool  // only cells with rows are counted
}

// cellsOf returns how many cells an ask has.
func (r *Request) cellsOf(a TableRequest) (int, error) {
	cells := uint64(1)
	for _, axis := range a.Axes {
		if axis < 0 || axis >= len(r.Axes) {
			return 0, fmt.Errorf("tabulate: there is no axis %d", axis)
		}
		high, low := bits.Mul64(cells, uint64(r.Axes[axis].Size))
		if high != 0 || low > math.MaxInt64 {
			return 0, fmt.Errorf("tabulate: a table has more than 2^63 cells")
		}
		cells = low
	}
	return int(cells), nil
}

// check returns an error for a request that cannot be counted.
func (r *Request) check() error {
	for i, a := range r.Axes {
		if a.Size < 1 || uint64(a.Size) > math.MaxUint32 || a.Column < 0 {
			return fmt.Errorf("tabulate: axis %d has %d codes of column %d", i, a.Size, a.Column)
		}
		for _, c := range a.CodeOf {
			if uint64(c) >= uint64(a.Size) {
				return fmt.Errorf("tabulate: axis %d maps a code beyond its %d", i, a.Size)
			}
		}
	}
	for _, a := range r.Tables {
		if _, err := r.cellsOf(a); err != nil {
			return err
		}
	}
	return nil
}

// refinement returns the code of axis b for each code of axis a, if a distinguishes everything that b does. It
// reports false if a does not, or if that cannot be decided.
func (r *Request) refinement(a, b int) ([]uint32, bool) {
	fine, coarse := r.Axes[a], r.Axes[b]
	switch {
	case fine.Column != coarse.Column:
		return nil, false
	case fine.CodeOf == nil:
		return coarse.CodeOf, true
	case coarse.CodeOf == nil || len(fine.CodeOf) != len(coarse.CodeOf):
		return nil, false
	}
	of, set := make([]uint32, fine.Size), make([]bool, fine.Size)
	for i, code := range fine.CodeOf {
		if set[code] && of[code] != coarse.CodeOf[i] {
			return nil, false
		}
		of[code], set[code] = coarse.CodeOf[i], true
	}
	return of, true
}
