package tabulate

// This file holds the table: the counts of a base to which one worker, or all, add.

import (
	"math"
	"math/bits"
	"slices"
	"sync"
)

// table counts rows of a base. Counts have 32 bits and sums of integers 64; they are moved to wider ones before they
// can overflow.
type table struct {
	mu      sync.Mutex
	tallies []uint32
	sums    []int64
	bound   uint64 // upper bound of every count and of the absolute value of every sum
	total   *total // total to which they are moved
}

// total is what was moved from the tables of a base.
type total struct {
	mu   sync.Mutex
	low  []int64 // nil before anything was moved
	high []int64 // if rows add integers: the sum is high·2^64 + uint64(low)

	narrow *CompactCounts // in place of low
}

// baseColumns is the columns of a base for a block of rows.
type baseColumns struct {
	short [][]uint16 // by group, nil if the group is wide
	wide  [][]uint32 // by group, nil if the group is not wide
	sizes []int
	added []int64 // nil if each row counts as 1
}

// addRows counts rows that add integers whose absolute values sum to weight. The caller must hold the lock; cell is
// scratch memory.
func (t *table) addRows(c baseColumns, cells, rows int, weight, most uint64, cell []int) {
	if t.bound > most-weight {
		t.moveToTotal(cells)
	}
	t.bound += weight
	if c.added != nil {
		if t.sums == nil {
			t.sums = make([]int64, cells)
		}
		tallyMany(t.sums, c, rows, cell)
		return
	}
	if t.tallies == nil {
		t.tallies = make([]uint32, cells)
	}
	tallyRows(t.tallies, c, rows, cell)
}

// moveToTotal adds a table to the base's total and clears it.
func (t *table) moveToTotal(cells int) {
	t.total.mu.Lock()
	defer t.total.mu.Unlock()
	t.total.addTable(t, cells)
	clear(t.tallies)
	clear(t.sums)
	t.bound = 0
}

// allocate allocates the total if that was not done before.
func (o *total) allocate(cells int) {
	if o.low == nil {
		o.low = make([]int64, cells)
	}
}

// addTable adds a table to the total.
func (o *total) addTable(t *table, cells int) {
	o.allocate(cells)
	for i, n := range t.tallies {
		o.low[i] += int64(n)
	}
	if t.sums == nil {
		return
	}
	if o.high == nil {
		o.high = make([]int64, cells)
	}
	for i, n := range t.sums {
		o.low[i], o.high[i] = add128(o.low[i], o.high[i], n, n>>63)
	}
}

// add128 returns a sum in 128 bits.
func add128(low, high, byLow, byHigh int64) (int64, int64) {
	sum, carry := bits.Add64(uint64(low), uint64(byLow), 0)
	return int64(sum), high + byHigh + int64(carry)
}

// mostCount and mostSum are the most that a table may count before it is moved.
const (
	mostCount = math.MaxUint32
	mostSum   = math.MaxInt64
)

// tallyRows counts rows in the cells of a base.
func tallyRows(t []uint32, c baseColumns, rows int, cell []int) {
	short := !slices.ContainsFunc(c.short, func(codes []uint16) bool { return codes == nil })
	switch {
	case short && len(c.short) == 1:
		for _, x := range c.short[0][:rows] {
			t[x]++
		}
	case short && len(c.short) == 2:
		tallyTwo(t, c.short[0][:rows], c.short[1][:rows], c.sizes[1])
	case short && len(c.short) == 3:
		tallyThree(t, c.short[0][:rows], c.short[1][:rows], c.short[2][:rows], c.sizes[1], c.sizes[2])
	default:
		tallyMany(t, c, rows, cell)
	}
}

func tallyTwo(t []uint32, a, b []uint16, size int) {
	b = b[:len(a)]
	if len(t) <= laneCells {
		done := tallyLanes2(t, a, b, size)
		a, b = a[done:], b[done:]
	}
	for i, x := range a {
		t[int(x)*size+int(b[i])]++
	}
}

func tallyThree(t []uint32, a, b, c []uint16, sizeB, sizeC int) {
	b, c = b[:len(a)], c[:len(a)]
	if len(t) <= laneCells {
		done := tallyLanes3(t, a, b, c, sizeB, sizeC)
		a, b, c = a[done:], b[done:], c[done:]
	}
	for i, x := range a {
		t[(int(x)*sizeB+int(b[i]))*sizeC+int(c[i])]++
	}
}

// tallyMany computes the cells of some rows at a time, in a first-level cache.
func tallyMany[T uint32 | int64](t []T, c baseColumns, rows int, cell []int) {
	for from := 0; from < rows; from += len(cell) {
		some := c.cellsOf(cell[:min(len(cell), rows-from)], from)
		if c.added == nil {
			for _, x := range some {
				t[x]++
			}
			continue
		}
		added := c.added[from:][:len(some)]
		for i, x := range some {
			t[x] += T(added[i])
		}
	}
}

// cellsOf computes the cells of the rows beginning at from.
func (c baseColumns) cellsOf(cells []int, from int) []int {
	clear(cells)
	for g, size := range c.sizes {
		if c.short[g] != nil {
			extendCells(cells, c.short[g][from:], size)
		} else {
			extendCells(cells, c.wide[g][from:], size)
		}
	}
	return cells
}

// extendCells combines cells with the codes of one more group.
func extendCells[C uint16 | uint32](cells []int, codes []C, size int) {
	codes = codes[:len(cells)]
	for i, x := range codes {
		cells[i] = cells[i]*size + int(x)
	}
}
