package tabulate

// This file holds the table of occupied cells, for tables most of whose cells have no rows. Workers gather rows by
// part, which a hash of the cell selects. Rows are appended to a part as they come, and equal cells are merged when
// the part has become half as long again. All of this is in memory that is read and written in order, or that fits
// into a cache.

import (
	"context"
	"errors"
	"hash/maphash"
	"math/bits"
	"sync"
	"sync/atomic"

	"github.com/dprelease/dprelease/internal/parallel"
)

// pair is a cell and its count.
type pair struct {
	cell  uint64
	count int64
}

const (
	pairBytes = 16
	pagePairs = 64
	mostParts = 1 << 10
	mostRoom  = 64       // most pairs that a worker gathers for a part
	leastRoom = 4        //
	leastPool = 16 << 20 // bytes
	// cellBytes is the most bytes that a cell takes: once in a part, half of that again in rows added since, and its
	// entry in the result.
	cellBytes = 40
	// partBytes is the fixed cost of a part: a minimum of rows, in pages that are not full.
	partBytes = 2 * pagePairs * pairBytes
)

// pool is the memory that the occupied tables of a counter may hold together, as a number of distinct cells. Whether
// there are more depends on the rows alone, and not on which worker saw them, or when.
type pool struct {
	limit int64 // cells
	held  atomic.Int64
	full  atomic.Bool // there are more cells: nothing more is added
	bits  int         // number of bits of a hash that select the part
	room  int         // pairs that each worker gathers for a part
	seed  uint64      // seed of hashes, so that nobody can choose rows that fall into one part
}

// denseSetBytes returns the bytes of one set of the dense tables.
func (c *cover) denseSetBytes() float64 {
	bytes := 0.0
	for _, b := range c.bases {
		bytes += float64(b.cells) * float64(c.request.cellBytes())
	}
	return bytes
}

// denseMemory returns the memory for dense tables and gathered rows. With occupied tables it is what many workers
// need, and a quarter of the memory at most.
func (c *cover) denseMemory() int64 {
	memory := c.request.Memory
	if len(c.occupied) == 0 {
		return memory
	}
	return int64(min(64*c.denseSetBytes()+float64(memory/16), float64(memory/4)))
}

// newPool gives the occupied tables the memory that the dense ones leave, however many workers there are. An eighth
// is for parts that are not full and for what workers gather.
func newPool(r *Request, c *cover) *pool {
	left := float64(r.Memory)
	if len(c.bases) > 0 {
		left -= max(c.denseSetBytes()+float64(c.denseMemory())/4, float64(c.denseMemory()))
	}
	bytes, tables := max(int64(left), leastPool), int64(max(len(c.occupied), 1))
	parts := min(max(bytes/16/tables/partBytes, 1), mostParts)
	p := &pool{limit: bytes / 8 * 7 / cellBytes, bits: bits.Len64(uint64(parts)) - 1,
		seed: maphash.Bytes(maphash.MakeSeed(), nil)}
	p.room = int(min(max(bytes/16/(int64(r.Workers)*tables*pairBytes)>>p.bits, leastRoom), mostRoom))
	return p
}

// occupiedTable is what all workers found for an ask, by part.
type occupiedTable struct {
	*pool
	weight atomic.Uint64
	parts  []part
}

func newOccupiedTable(p *pool) *occupiedTable {
	return &occupiedTable{pool: p, parts: make([]part, 1<<p.bits)}
}

// hashOf returns the hash of a cell. Its first bits select the part, and its last bits the slot within the part.
func (p *pool) hashOf(cell uint64) uint64 { return mixBits(cell ^ p.seed) }

// part is the cells whose hashes begin with the same bits: pairs of distinct cells, followed by pairs as they came.
type part struct {
	mu        sync.Mutex
	pages     []*[pagePairs]pair
	different int
	used      int
}

// addPairs adds pairs to a part.
func (t *occupiedTable) addPairs(p *part, pairs []pair, s *slots) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(pairs) > 0 {
		if p.used == len(p.pages)*pagePairs {
			p.pages = append(p.pages, new([pagePairs]pair))
		}
		n := copy(p.pages[p.used/pagePairs][p.used%pagePairs:], pairs)
		p.used += n
		pairs = pairs[n:]
	}
	if p.used-p.different >= max(p.different/2, pagePairs) {
		t.mergePart(p, s)
	}
}

// mergePart merges the pairs of equal cells of a part.
func (t *occupiedTable) mergePart(p *part, s *slots) {
	s.reset(p.used)
	for i := range p.different {
		hash := t.hashOf(p.pairAt(i).cell)
		s.fillSlot(s.freeSlot(hash), hash, i+1)
	}
	n := p.different
	for i := p.different; i < p.used; i++ {
		x := *p.pairAt(i)
		hash := t.hashOf(x.cell)
		slot, there := s.findCell(hash, x.cell, p)
		if there > 0 {
			p.pairAt(there - 1).count += x.count
			continue
		}
		*p.pairAt(n) = x
		n++
		s.fillSlot(slot, hash, n)
	}
	more := n - p.different
	p.different, p.used = n, n
	if t.held.Add(int64(more)) > t.limit {
		t.full.Store(true)
	}
}

// pairAt returns a pair of a part.
func (p *part) pairAt(i int) *pair { return &p.pages[i/pagePairs][i%pagePairs] }

// slots is an open-addressed hash table of where in a part a cell is. An entry has the cell's index + 1 in its last
// 32 bits and the first 32 bits of its hash before them; 0 is free.
type slots struct{ entries []uint64 }

// reset makes room for the given number of cells.
func (s *slots) reset(cells int) {
	n := 1 << bits.Len(uint(cells+cells/2))
	if cap(s.entries) < n {
		s.entries = make([]uint64, n)
	}
	s.entries = s.entries[:n]
	clear(s.entries)
}

// freeSlot returns a slot for a cell that is not in the table.
func (s *slots) freeSlot(hash uint64) uint64 {
	mask := uint64(len(s.entries) - 1)
	at := hash & mask
	for s.entries[at] != 0 {
		at = (at + 1) & mask
	}
	return at
}

// findCell returns the slot of a cell, and its index + 1, or 0 if it is not in the table.
func (s *slots) findCell(hash, cell uint64, p *part) (slot uint64, place int) {
	mask := uint64(len(s.entries) - 1)
	for at := hash & mask; ; at = (at + 1) & mask {
		is := s.entries[at]
		if is == 0 {
			return at, 0
		}
		if place := int(uint32(is)); (is^hash)>>32 == 0 && p.pairAt(place-1).cell == cell {
			return at, place
		}
	}
}

// fillSlot fills a slot.
func (s *slots) fillSlot(slot, hash uint64, place int) {
	s.entries[slot] = hash>>32<<32 | uint64(place)
}

// sortedCells returns all cells, ascending, and releases the parts.
func (t *occupiedTable) sortedCells(ctx context.Context, workers int) (cells []uint64, counts []int64, err error) {
	scratch := sync.Pool{New: func() any { return new(slots) }}
	err = parallel.Do(ctx, workers, len(t.parts), func(i int) error {
		s := scratch.Get().(*slots)
		defer scratch.Put(s)
		t.mergePart(&t.parts[i], s)
		return nil
	})
	switch {
	case err != nil:
		return nil, nil, err
	case t.full.Load():
		return nil, nil, ErrMemory
	}
	n := 0
	first := make([]int, len(t.parts))
	for i := range t.parts {
		first[i] = n
		n += t.parts[i].used
	}
	all := run{make([]uint64, n), make([]int64, n)}
	err = parallel.Do(ctx, workers, len(t.parts), func(i int) error {
		p, at := &t.parts[i], first[i]
		for _, page := range p.pages {
			for _, x := range page[:min(first[i]+p.used-at, pagePairs)] {
				all.cells[at], all.counts[at] = x.cell, x.count
				at++
			}
		}
		p.pages = nil
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	return all.cells, all.counts, sortCells(ctx, workers, all)
}

// occupiedWorker is what one worker has gathered for each part.
type occupiedWorker struct {
	table  *occupiedTable
	pairs  []pair // room for pairs, by part
	filled []int  // number of pairs, by part
	slots  slots
}

func (t *occupiedTable) newWorker() *occupiedWorker {
	return &occupiedWorker{table: t, pairs: make([]pair, len(t.parts)*t.room), filled: make([]int, len(t.parts))}
}

// ErrSums reports that the integers of rows in an occupied table add up to 2^63 or more.
var ErrSums = errors.New("the integers of rows in a table of occupied cells add up to 2^63 or more")

// addCells counts rows by their cells. If there are more cells than fit into memory, it returns no error, so that any
// other error of the rows comes first.
func (w *occupiedWorker) addCells(cells []uint64, added []int64) error {
	if added != nil {
		if h := sumOfMagnitudes(added, len(added), nil); h > mostSum || w.table.weight.Add(h) > mostSum {
			return ErrSums
		}
	}
	if w.table.full.Load() {
		return nil
	}
	room := w.table.room
	for i, cell := range cells {
		n := int64(1)
		if added != nil {
			n = added[i]
		}
		p := int(w.table.hashOf(cell) >> (64 - w.table.bits))
		if w.filled[p] == room {
			w.flushPart(p)
		}
		w.pairs[p*room+w.filled[p]] = pair{cell, n}
		w.filled[p]++
	}
	return nil
}

// flushPart adds what was gathered for a part to the table.
func (w *occupiedWorker) flushPart(p int) {
	from := p * w.table.room
	w.table.addPairs(&w.table.parts[p], w.pairs[from:from+w.filled[p]], &w.slots)
	w.filled[p] = 0
}

// flushAll adds what is left to the table.
func (w *occupiedWorker) flushAll() {
	for p := range w.filled {
		w.flushPart(p)
	}
	w.pairs, w.filled, w.slots = nil, nil, slots{}
}
