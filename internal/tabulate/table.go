package tabulate

// This file holds the table: the counts of a base that one worker, or all, add to.

import (
	"math"
	"math/bits"
	"slices"
	"sync"
)

// table counts rows of a base. Counts are held in 32 bits and sums of integers in 64, and
// moved to wider ones before they could run over.
type table struct {
	mu      sync.Mutex
	tallies []uint32
	sums    []int64
	bound   uint64 // no count, and no absolute value of a sum, is more
	total   *total // where they are moved to
}

// total is what was moved from the tables of a base.
type total struct {
	mu   sync.Mutex
	low  []int64 // nil before anything was
	high []int64 // of integers that rows add: the sum is high·2^64 + uint64(low)

	narrow *Narrow // in the place of low
}

// columns are those of a base for a block of rows.
type columns struct {
	short [][]uint16 // nil where the group is wide
	wide  [][]uint32 // nil where it is not
	sizes []int
	added []int64 // nil: each row is one
}

// add counts rows that add integers whose absolute values are weight in sum. The caller holds
// the lock; cell is for use meanwhile.
func (t *table) add(c columns, cells, rows int, weight, most uint64, cell []int) {
	if t.bound > most-weight {
		t.move(cells)
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
	tally(t.tallies, c, rows, cell)
}

// move adds a table to the base's total and clears it.
func (t *table) move(cells int) {
	t.total.mu.Lock()
	defer t.total.mu.Unlock()
	t.total.take(t, cells)
	clear(t.tallies)
	clear(t.sums)
	t.bound = 0
}

// widen makes the total, where it was not made before.
func (o *total) widen(cells int) {
	if o.low == nil {
		o.low = make([]int64, cells)
	}
}

// take adds a table to the total.
func (o *total) take(t *table, cells int) {
	o.widen(cells)
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

// add128 is a sum in 128 bits.
func add128(low, high, byLow, byHigh int64) (int64, int64) {
	sum, carry := bits.Add64(uint64(low), uint64(byLow), 0)
	return int64(sum), high + byHigh + int64(carry)
}

// mostCount and mostSum are what tables may hold.
const (
	mostCount = math.MaxUint32
	mostSum   = math.MaxInt64
)

// tally adds rows to the cells of a base.
func tally(t []uint32, c columns, rows int, cell []int) {
	short := !slices.ContainsFunc(c.short, func(codes []uint16) bool { return codes == nil })
	switch {
	case short && len(c.short) == 1:
		for _, x := range c.short[0][:rows] {
			t[x]++
		}
	case short && len(c.short) == 2:
		tally2(t, c.short[0][:rows], c.short[1][:rows], c.sizes[1])
	case short && len(c.short) == 3:
		tally3(t, c.short[0][:rows], c.short[1][:rows], c.short[2][:rows], c.sizes[1], c.sizes[2])
	default:
		tallyMany(t, c, rows, cell)
	}
}

func tally2(t []uint32, a, b []uint16, size int) {
	b = b[:len(a)]
	if len(t) <= laneCells {
		done := tallyLanes2(t, a, b, size)
		a, b = a[done:], b[done:]
	}
	for i, x := range a {
		t[int(x)*size+int(b[i])]++
	}
}

func tally3(t []uint32, a, b, c []uint16, sizeB, sizeC int) {
	b, c = b[:len(a)], c[:len(a)]
	if len(t) <= laneCells {
		done := tallyLanes3(t, a, b, c, sizeB, sizeC)
		a, b, c = a[done:], b[done:], c[done:]
	}
	for i, x := range a {
		t[(int(x)*sizeB+int(b[i]))*sizeC+int(c[i])]++
	}
}

// tallyMany works out the cells of some rows at a time, in a first-level cache.
func tallyMany[T uint32 | int64](t []T, c columns, rows int, cell []int) {
	for from := 0; from < rows; from += len(cell) {
		some := c.cells(cell[:min(len(cell), rows-from)], from)
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

// cells works out those of the rows behind from.
func (c columns) cells(cells []int, from int) []int {
	clear(cells)
	for g, size := range c.sizes {
		if c.short[g] != nil {
			extend(cells, c.short[g][from:], size)
		} else {
			extend(cells, c.wide[g][from:], size)
		}
	}
	return cells
}

// extend takes one more group into cells.
func extend[C uint16 | uint32](cells []int, codes []C, size int) {
	codes = codes[:len(cells)]
	for i, x := range codes {
		cells[i] = cells[i]*size + int(x)
	}
}
