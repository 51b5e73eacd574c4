package tabulate

// This file holds the sparse table: the cells that rows fall into, where most of a
// table's have none.

import (
	"errors"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"
)

// pair is a cell and its count.
type pair struct {
	cell  uint64
	count int64
}

const (
	pairBytes   = 16
	sparseParts = 64       // parts of a table's cells, that are merged one at a time
	leastSlots  = 1 << 10  // of a worker's hash table
	mostSlots   = 1 << 20  // so that it is not far beyond a third-level cache
	leastPool   = 16 << 20 // bytes
)

// pool is the memory that the sparse tables of a counter may hold together.
type pool struct {
	limit int64
	held  atomic.Int64
	slots int // of each worker's hash table, at the most
}

// newPool gives sparse tables what dense ones leave.
func newPool(r *Request, c *cover) *pool {
	left := float64(r.Memory)
	for _, b := range c.bases {
		tables := r.Workers
		if b.shared {
			tables = 1
		}
		left -= float64(b.cells) * float64(r.bytes()*tables)
	}
	p := &pool{limit: max(int64(left), leastPool)}
	each := p.limit / 4 / int64(pairBytes*r.Workers*max(len(c.sparse), 1))
	p.slots = 1 << (bits.Len64(uint64(min(max(each, leastSlots), mostSlots))) - 1)
	return p
}

// sparseTable is what all workers found for an ask, cut by cells into parts.
type sparseTable struct {
	pool   *pool
	shift  int // cell >> shift is the part
	weight atomic.Uint64
	parts  [sparseParts]part
}

// part is the cells of one part: runs, each ascending and without repetition.
type part struct {
	mu   sync.Mutex
	runs [][]pair
}

func newSparseTable(cells uint64, p *pool) *sparseTable {
	return &sparseTable{pool: p, shift: max(bits.Len64(cells-1)-bits.Len(sparseParts-1), 0)}
}

// take adds pairs, which are ascending and without repetition.
func (t *sparseTable) take(pairs []pair) error {
	for len(pairs) > 0 {
		p := pairs[0].cell >> t.shift
		n, _ := slices.BinarySearchFunc(pairs, p+1, func(x pair, p uint64) int {
			if x.cell>>t.shift < p {
				return -1
			}
			return 1
		})
		t.pool.held.Add(t.parts[p].take(pairs[:n]))
		pairs = pairs[n:]
	}
	if t.pool.held.Load() > t.pool.limit/2 { // the other half is for the result
		for i := range t.parts {
			t.pool.held.Add(t.parts[i].merge())
		}
		if t.pool.held.Load() > t.pool.limit/2 {
			return ErrMemory
		}
	}
	return nil
}

// take adds a run, and merges all where the new ones have become as long as the
// first. It returns by how many bytes it grew.
func (p *part) take(run []pair) int64 {
	p.mu.Lock()
	p.runs = append(p.runs, slices.Clone(run))
	grew := int64(pairBytes * len(run))
	more := 0
	for _, r := range p.runs[1:] {
		more += len(r)
	}
	merge := more > len(p.runs[0])+1024
	p.mu.Unlock()
	if merge {
		grew += p.merge()
	}
	return grew
}

// merge makes one run of all. It returns by how many bytes it grew, 0 or less.
func (p *part) merge() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.runs) < 2 {
		return 0
	}
	all := slices.Concat(p.runs...)
	before := len(all)
	all = slices.Clone(addUp(sorted(all, make([]pair, len(all)))))
	p.runs = [][]pair{all}
	return int64(pairBytes * (len(all) - before))
}

// finish returns all cells, ascending, and lets go of the parts.
func (t *sparseTable) finish() (cells []uint64, counts []int64, err error) {
	n := 0
	for i := range t.parts {
		t.parts[i].merge()
		for _, r := range t.parts[i].runs {
			n += len(r)
		}
	}
	cells, counts = make([]uint64, 0, n), make([]int64, 0, n)
	for i := range t.parts {
		for _, r := range t.parts[i].runs {
			for _, x := range r {
				cells, counts = append(cells, x.cell), append(counts, x.count)
			}
		}
		t.parts[i].runs = nil
	}
	return cells, counts, nil
}

// sparseWorker is one worker's hash table, open-addressed, of cells not yet handed on.
type sparseWorker struct {
	table *sparseTable
	slots []pair // cell+1; 0 is free
	used  int
}

func (t *sparseTable) worker() *sparseWorker { return &sparseWorker{table: t} }

var errSparseWeight = errors.New("tabulate: weights of a sparse table add up to 2^63 or more")

// add counts rows by their cells.
func (w *sparseWorker) add(cells []uint64, weights []int64) error {
	if weights != nil {
		if h := heft(weights, len(weights), nil); h > mostSum || w.table.weight.Add(h) > mostSum {
			return errSparseWeight
		}
	}
	for i, cell := range cells {
		if 2*w.used >= len(w.slots) {
			if err := w.grow(); err != nil {
				return err
			}
		}
		weight := int64(1)
		if weights != nil {
			weight = weights[i]
		}
		w.used += put(w.slots, cell+1, weight)
	}
	return nil
}

// put adds to the slot of a key; 1 where it was free.
func put(slots []pair, key uint64, by int64) int {
	mask := uint64(len(slots) - 1)
	for at := mix(key) & mask; ; at = (at + 1) & mask {
		switch slots[at].cell {
		case key:
			slots[at].count += by
			return 0
		case 0:
			slots[at] = pair{key, by}
			return 1
		}
	}
}

// grow doubles the slots or, where they are as many as there may be, hands on what
// they hold.
func (w *sparseWorker) grow() error {
	if len(w.slots) >= w.table.pool.slots {
		return w.hand()
	}
	slots := make([]pair, max(2*len(w.slots), leastSlots))
	for _, x := range w.slots {
		if x.cell != 0 {
			put(slots, x.cell, x.count)
		}
	}
	w.slots = slots
	return nil
}

// hand gives all that was counted to the table.
func (w *sparseWorker) hand() error {
	pairs := make([]pair, 0, w.used)
	for _, x := range w.slots {
		if x.cell != 0 {
			pairs = append(pairs, pair{x.cell - 1, x.count})
		}
	}
	clear(w.slots)
	w.used = 0
	return w.table.take(sorted(pairs, make([]pair, len(pairs))))
}

// end hands on what is left.
func (w *sparseWorker) end() error {
	err := w.hand()
	w.slots = nil
	return err
}

// sorted sorts pairs by cell, in memory as large beside them: digit by digit, the least
// significant first (radix sort).
func sorted(pairs, beside []pair) []pair {
	const digit = 11
	top := uint64(0)
	for _, x := range pairs {
		top |= x.cell
	}
	for shift := 0; shift < bits.Len64(top); shift += digit {
		var starts [1 << digit]int
		for _, x := range pairs {
			starts[x.cell>>shift&(1<<digit-1)]++
		}
		at := 0
		for d, n := range starts {
			starts[d], at = at, at+n
		}
		for _, x := range pairs {
			d := x.cell >> shift & (1<<digit - 1)
			beside[starts[d]] = x
			starts[d]++
		}
		pairs, beside = beside, pairs
	}
	return pairs
}

// addUp makes one pair of those of one cell, in place.
func addUp(pairs []pair) []pair {
	out := pairs[:0]
	for _, x := range pairs {
		if n := len(out); n > 0 && out[n-1].cell == x.cell {
			out[n-1].count += x.count
		} else {
			out = append(out, x)
		}
	}
	return out
}
