package tabulate

// This file holds the worker: it gathers rows into blocks of super-columns, and
// counts a block for one base after the other, so that a base stays in the cache.

import (
	"errors"
	"math/bits"
)

// Worker adds rows. It is for one goroutine.
type Worker struct {
	counter *Counter
	tables  []*table              // of each base
	short   []superColumn[uint16] // of each group; empty where its codes are wide
	long    []superColumn[uint32] // of each group; empty where they are short
	keys    []occupiedColumn
	added   []int64
	rows    int    // in the block
	weight  uint64 // Σ|added| of the block
	first   int    // base that it begins with, so that workers do not meet
	places  []int32
	cell    []int
	lots    lots
}

// superColumn is the codes of a group in the making: of 16 bits, or of 32 for a single wide axis.
type superColumn[T wide] struct {
	terms []term[T]
	codes []T
}

// extendColumn gathers the rows first..last of a block, which stand behind from, or at places behind it.
func extendColumn[T wide](s *superColumn[T], first, last, block int, columns []Codes, from int, places []int32) error {
	s.codes = grown(s.codes, last, block)
	return combine(s.codes[first:last], s.terms, columns, from, places)
}

// occupiedColumn is the cell of each row in a table of occupied cells.
type occupiedColumn struct {
	terms []term[uint64]
	cells []uint64
	table *occupiedWorker
}

// some is how many rows are looked at at a time, so that what is gathered of them stays
// in a first-level cache.
const some = 4096

// Worker returns a new worker of the counter.
func (c *Counter) Worker() *Worker {
	w := &Worker{counter: c, tables: make([]*table, len(c.bases)), places: make([]int32, some), cell: make([]int, some/2),
		short: make([]superColumn[uint16], len(c.groups)), long: make([]superColumn[uint32], len(c.groups))}
	for i, p := range c.parted {
		if w.tables[i] = c.common[i]; p == nil && w.tables[i] == nil {
			w.tables[i] = &table{total: &c.totals[i]}
		}
	}
	for i, g := range c.groups {
		if g.size > superSize {
			w.long[i].terms = termsOf[uint32](c.request, g.lead, g.strides)
		} else {
			w.short[i].terms = termsOf[uint16](c.request, g.lead, g.strides)
		}
	}
	for i, ask := range c.cover.occupied {
		axes := c.request.Asks[ask].Axes
		strides, stride := make([]int, len(axes)), 1
		for k := len(axes) - 1; k >= 0; k-- {
			strides[k] = stride
			stride *= c.request.Axes[axes[k]].Size
		}
		w.keys = append(w.keys, occupiedColumn{termsOf[uint64](c.request, axes, strides), make([]uint64, some),
			c.occupied[i].worker()})
	}
	w.first = len(c.workers) * len(c.bases) / c.request.Workers
	c.workers = append(c.workers, w)
	return w
}

func termsOf[T wide](r *Request, axes, strides []int) []term[T] {
	terms := make([]term[T], len(axes))
	for i, a := range axes {
		terms[i] = newTerm[T](r.Axes[a], strides[i])
	}
	return terms
}

var errRows = errors.New("tabulate: columns, rows to keep and what rows add are not of one length")

// Add counts rows: those of bits set in keep, or all where it is nil. added is what each row
// adds, nil unless the request is of sums. Codes of rows that are kept must be those of their
// axes; the others may be anything. Nothing of the arguments is held on to.
func (w *Worker) Add(columns []Codes, rows int, keep []uint64, added []int64) error {
	for _, c := range columns {
		if c.Len() != 0 && c.Len() < rows {
			return errRows
		}
	}
	if keep != nil && len(keep) < (rows+63)/64 || w.counter.request.Summed != (added != nil) || added != nil &&
		len(added) < rows {
		return errRows
	}
	for from := 0; from < rows; from += some {
		n := min(some, rows-from)
		var places []int32
		if keep != nil {
			if places = w.kept(keep, from, n); len(places) == n {
				places = nil
			} else if n = len(places); n == 0 {
				continue
			}
		}
		if err := w.take(columns, from, n, places, added); err != nil {
			return err
		}
	}
	return nil
}

// kept lists the rows of from..from+n that stay, from 0.
func (w *Worker) kept(keep []uint64, from, n int) []int32 {
	places := w.places[:0]
	for at := 0; at < n; at += 64 {
		word := keep[(from+at)/64]
		if n-at < 64 {
			word &= 1<<(n-at) - 1
		}
		for ; word != 0; word &= word - 1 {
			places = append(places, int32(at+bits.TrailingZeros64(word)))
		}
	}
	return places
}

// take gathers n rows behind from, or those at places behind it, and counts those
// before them where there is no room for more.
func (w *Worker) take(columns []Codes, from, n int, places []int32, added []int64) error {
	weight := uint64(n)
	if added != nil {
		switch weight = heft(added[from:], n, places); {
		case weight <= mostSum:
		case n == 1:
			return errAdded
		case places != nil:
			if err := w.take(columns, from, n/2, places[:n/2], added); err != nil {
				return err
			}
			return w.take(columns, from, n-n/2, places[n/2:], added)
		default:
			if err := w.take(columns, from, n/2, nil, added); err != nil {
				return err
			}
			return w.take(columns, from+n/2, n-n/2, nil, added)
		}
	}
	if w.rows+n > w.counter.block || weight > w.counter.most-w.weight {
		w.count()
	}
	w.weight += weight
	if added != nil {
		w.added = append(w.added[:w.rows], addedOf(added[from:], n, places)...)
	}
	return w.gather(columns, from, n, places)
}

// gather adds rows to the block and to the tables of occupied cells.
func (w *Worker) gather(columns []Codes, from, n int, places []int32) error {
	first, last := w.rows, w.rows+n
	var err error
	for g, of := range w.counter.groups {
		if of.size > superSize {
			err = extendColumn(&w.long[g], first, last, w.counter.block, columns, from, places)
		} else {
			err = extendColumn(&w.short[g], first, last, w.counter.block, columns, from, places)
		}
		if err != nil {
			return err
		}
	}
	for i := range w.keys {
		k := &w.keys[i]
		if err := combine(k.cells[:n], k.terms, columns, from, places); err != nil {
			return err
		}
		var added []int64
		if w.counter.request.Summed {
			added = w.added[first:last]
		}
		if err := k.table.add(k.cells[:n], added); err != nil {
			return err
		}
	}
	w.rows = last
	return nil
}

// grown is codes with room for so many rows, and for a whole block at the most.
func grown[T wide](codes []T, rows, block int) []T {
	if rows <= len(codes) {
		return codes
	}
	out := make([]T, max(rows, min(4*len(codes), block), some))
	copy(out, codes)
	return out
}

var errAdded = errors.New("tabulate: a row that adds -2^63 cannot be counted")

// heft is Σ|added| of n rows, or more than mostSum where it is.
func heft(added []int64, n int, places []int32) uint64 {
	sum := uint64(0)
	for i := range n {
		at := i
		if places != nil {
			at = int(places[i])
		}
		size := uint64(added[at])
		if added[at] < 0 {
			size = -size
		}
		if sum += size; sum > mostSum { // each is 2^63 at the most: it has not run over
			return sum
		}
	}
	return sum
}

// addedOf is what n rows add.
func addedOf(added []int64, n int, places []int32) []int64 {
	if places == nil {
		return added[:n]
	}
	out := make([]int64, n)
	for i, p := range places {
		out[i] = added[p]
	}
	return out
}

// count adds the block to every base: first to those that no other worker holds.
func (w *Worker) count() {
	if w.rows == 0 {
		return
	}
	waiting := make([]int, 0, len(w.tables))
	for i := range w.tables {
		b := (w.first + i) % len(w.tables)
		if !w.addTo(b, false) {
			waiting = append(waiting, b)
		}
	}
	for _, b := range waiting {
		w.addTo(b, true)
	}
	w.rows, w.weight = 0, 0
}

// addTo adds the block to a base, unless another worker is at it and it need not wait.
func (w *Worker) addTo(b int, wait bool) bool {
	t, of := w.tables[b], &w.counter.bases[b]
	if p := w.counter.parted[b]; p != nil {
		w.lots.add(p, w.columns(of), w.rows, w.cell)
		return true
	}
	if wait {
		t.mu.Lock()
	} else if !t.mu.TryLock() {
		return false
	}
	defer t.mu.Unlock()
	t.add(w.columns(of), of.cells, w.rows, w.weight, w.counter.most, w.cell)
	return true
}

// columns are those of a base for the block.
func (w *Worker) columns(of *base) columns {
	c := columns{}
	for _, g := range of.groups {
		c.sizes = append(c.sizes, w.counter.groups[g].size)
		c.short, c.wide = append(c.short, w.short[g].codes), append(c.wide, w.long[g].codes)
	}
	if w.counter.request.Summed {
		c.added = w.added
	}
	return c
}

// end counts what is left and lets go of the block.
func (w *Worker) end() {
	w.count()
	for _, k := range w.keys {
		k.table.end()
	}
	w.short, w.long, w.keys, w.added, w.lots = nil, nil, nil, nil, lots{}
}
