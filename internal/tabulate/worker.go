package tabulate

// This file holds the worker: it gathers rows into blocks of super-columns, and counts a block for one base after
// another, so that a base stays in the cache.

import (
	"errors"
	"math/bits"
)

// Worker adds rows. It is for one goroutine.
type Worker struct {
	counter *Counter
	tables  []*table              // by base
	short   []superColumn[uint16] // by group; empty if its codes are wide
	long    []superColumn[uint32] // by group; empty if its codes are short
	keys    []occupiedColumn
	added   []int64
	rows    int    // number of rows in the block
	weight  uint64 // Σ|added| of the block
	first   int    // base with which it begins, different for each worker to avoid contention
	places  []int32
	cell    []int
	lots    stretchBatches
}

// superColumn is the codes of a group for a block: of 16 bits, or of 32 for a single wide axis.
type superColumn[T wide] struct {
	terms []term[T]
	codes []T
}

// extendColumn gathers the rows first..last of a block, which begin at from in columns, or lie at places after from.
func extendColumn[T wide](s *superColumn[T], first, last, block int, columns []Codes, from int, places []int32) error {
	s.codes = growCodes(s.codes, last, block)
	return combineTerms(s.codes[first:last], s.terms, columns, from, places)
}

// occupiedColumn is the cell of each row in an occupied table.
type occupiedColumn struct {
	terms []term[uint64]
	cells []uint64
	table *occupiedWorker
}

// chunkRows is how many rows are handled at a time, so that what is gathered of them stays in a first-level cache.
const chunkRows = 4096

// Worker returns a new worker of the counter.
func (c *Counter) Worker() *Worker {
	w := &Worker{counter: c, tables: make([]*table, len(c.bases)), places: make([]int32, chunkRows),
		cell:  make([]int, chunkRows/2),
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
		axes := c.request.Tables[ask].Axes
		strides, stride := make([]int, len(axes)), 1
		for k := len(axes) - 1; k >= 0; k-- {
			strides[k] = stride
			stride *= c.request.Axes[axes[k]].Size
		}
		w.keys = append(w.keys, occupiedColumn{termsOf[uint64](c.request, axes, strides), make([]uint64, chunkRows),
			c.occupied[i].newWorker()})
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

// Add counts the rows whose bits are set in keep, or all rows if keep is nil. added is what each row adds, nil unless
// the request is Summed. Codes of kept rows must be codes of their axes; other rows may have any. Add retains none of
// its arguments.
func (w *Worker) Add(columns []Codes, rows int, keep []uint64, added []int64) error {
	for _, c := range columns {
		if c.Len() != 0 && c.Len() < rows {
			return errRows
		}
	}
	if keep != nil && len(keep) < (rows+63)/64 || w.counter.request.HasAddends != (added != nil) || added != nil &&
		len(added) < rows {
		return errRows
	}
	for from := 0; from < rows; from += chunkRows {
		n := min(chunkRows, rows-from)
		var places []int32
		if keep != nil {
			if places = w.keptRows(keep, from, n); len(places) == n {
				places = nil
			} else if n = len(places); n == 0 {
				continue
			}
		}
		if err := w.addBatch(columns, from, n, places, added); err != nil {
			return err
		}
	}
	return nil
}

// keptRows lists the kept rows of from..from+n, counted from 0.
func (w *Worker) keptRows(keep []uint64, from, n int) []int32 {
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

// addBatch gathers the n rows beginning at from, or at places after from, and counts the block first if it has no
// room for them.
func (w *Worker) addBatch(columns []Codes, from, n int, places []int32, added []int64) error {
	weight := uint64(n)
	if added != nil {
		switch weight = sumOfMagnitudes(added[from:], n, places); {
		case weight <= mostSum:
		case n == 1:
			return errAdded
		case places != nil:
			if err := w.addBatch(columns, from, n/2, places[:n/2], added); err != nil {
				return err
			}
			return w.addBatch(columns, from, n-n/2, places[n/2:], added)
		default:
			if err := w.addBatch(columns, from, n/2, nil, added); err != nil {
				return err
			}
			return w.addBatch(columns, from+n/2, n-n/2, nil, added)
		}
	}
	if w.rows+n > w.counter.block || weight > w.counter.most-w.weight {
		w.countBlock()
	}
	w.weight += weight
	if added != nil {
		w.added = append(w.added[:w.rows], addedOf(added[from:], n, places)...)
	}
	return w.gatherRows(columns, from, n, places)
}

// gatherRows adds rows to the block and to the occupied tables.
func (w *Worker) gatherRows(columns []Codes, from, n int, places []int32) error {
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
		if err := combineTerms(k.cells[:n], k.terms, columns, from, places); err != nil {
			return err
		}
		var added []int64
		if w.counter.request.HasAddends {
			added = w.added[first:last]
		}
		if err := k.table.addCells(k.cells[:n], added); err != nil {
			return err
		}
	}
	w.rows = last
	return nil
}

// growCodes returns codes with room for the given number of rows, and at most for a whole block.
func growCodes[T wide](codes []T, rows, block int) []T {
	if rows <= len(codes) {
		return codes
	}
	out := make([]T, max(rows, min(4*len(codes), block), chunkRows))
	copy(out, codes)
	return out
}

var errAdded = errors.New("tabulate: a row that adds -2^63 cannot be counted")

// sumOfMagnitudes returns Σ|added| of n rows, or more than mostSum if it is more.
func sumOfMagnitudes(added []int64, n int, places []int32) uint64 {
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
		if sum += size; sum > mostSum { // each is at most 2^63, so the sum has not overflowed
			return sum
		}
	}
	return sum
}

// addedOf returns what n rows add.
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

// countBlock adds the block to every base, first to bases that no other worker has locked.
func (w *Worker) countBlock() {
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

// addTo adds the block to a base. If another worker has locked the base and wait is not set, it reports false
// instead.
func (w *Worker) addTo(b int, wait bool) bool {
	t, of := w.tables[b], &w.counter.bases[b]
	if p := w.counter.parted[b]; p != nil {
		w.lots.addRows(p, w.columnsOf(of), w.rows, w.cell)
		return true
	}
	if wait {
		t.mu.Lock()
	} else if !t.mu.TryLock() {
		return false
	}
	defer t.mu.Unlock()
	t.addRows(w.columnsOf(of), of.cells, w.rows, w.weight, w.counter.most, w.cell)
	return true
}

// columnsOf returns the columns of a base for the block.
func (w *Worker) columnsOf(of *base) baseColumns {
	c := baseColumns{}
	for _, g := range of.groups {
		c.sizes = append(c.sizes, w.counter.groups[g].size)
		c.short, c.wide = append(c.short, w.short[g].codes), append(c.wide, w.long[g].codes)
	}
	if w.counter.request.HasAddends {
		c.added = w.added
	}
	return c
}

// finishBlock counts what is left and releases the block.
func (w *Worker) finishBlock() {
	w.countBlock()
	for _, k := range w.keys {
		k.table.flushAll()
	}
	w.short, w.long, w.keys, w.added, w.lots = nil, nil, nil, nil, stretchBatches{}
}
