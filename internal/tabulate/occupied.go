package tabulate

// This file holds the table of occupied cells, those that rows fall into, where most of a
// table's have none. Workers gather rows by the part that a hash of their cell says.
// Rows are added to a part as they come, and cells made different again when it has
// become half as long again: all of that in memory that is read and written in order, or
// that fits into a cache.

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
	mostRoom  = 64       // pairs that a worker gathers for a part
	leastRoom = 4        //
	leastPool = 16 << 20 // bytes
	// cellBytes is the most that a cell takes: once in a part, half of it again in rows
	// that came since, and its place in the result.
	cellBytes = 40
	// partBytes is what a part takes beside: rows that are few in any case, in pages
	// that are not full.
	partBytes = 2 * pagePairs * pairBytes
)

// pool is the memory that the tables of occupied cells of a counter may hold together. It is so
// many different cells: whether there are more depends on the rows alone, and not on
// which worker met them, or when.
type pool struct {
	limit int64 // cells
	held  atomic.Int64
	full  atomic.Bool // there are more cells: nothing is added any more
	bits  int         // of a hash, that say the part
	room  int         // pairs that each worker gathers for a part
	seed  uint64      // of hashes, so that no rows can be made to meet in one part
}

// set is what a set of the dense tables takes.
func (c *cover) set() float64 {
	bytes := 0.0
	for _, b := range c.bases {
		bytes += float64(b.cells) * float64(c.request.bytes())
	}
	return bytes
}

// dense is the memory for dense tables and rows in hand. Where there are tables of occupied cells
// it is what many workers need, and a quarter of all at the most.
func (c *cover) dense() int64 {
	memory := c.request.Memory
	if len(c.occupied) == 0 {
		return memory
	}
	return int64(min(64*c.set()+float64(memory/16), float64(memory/4)))
}

// newPool gives tables of occupied cells what dense ones leave, however many workers there are. An
// eighth is for parts that are not full and for what workers gather.
func newPool(r *Request, c *cover) *pool {
	left := float64(r.Memory)
	if len(c.bases) > 0 {
		left -= max(c.set()+float64(c.dense())/4, float64(c.dense()))
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

// hash is a cell's: its first bits say the part, its last ones where the cell is looked
// for there.
func (p *pool) hash(cell uint64) uint64 { return mix(cell ^ p.seed) }

// part is the cells whose hashes begin alike: pairs of different cells, and behind them
// pairs as they came.
type part struct {
	mu        sync.Mutex
	pages     []*[pagePairs]pair
	different int
	used      int
}

// take adds pairs to a part.
func (t *occupiedTable) take(p *part, pairs []pair, s *slots) {
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
		t.merge(p, s)
	}
}

// merge makes the cells of a part different.
func (t *occupiedTable) merge(p *part, s *slots) {
	s.clear(p.used)
	for i := range p.different {
		hash := t.hash(p.at(i).cell)
		s.set(s.free(hash), hash, i+1)
	}
	n := p.different
	for i := p.different; i < p.used; i++ {
		x := *p.at(i)
		hash := t.hash(x.cell)
		slot, there := s.find(hash, x.cell, p)
		if there > 0 {
			p.at(there - 1).count += x.count
			continue
		}
		*p.at(n) = x
		n++
		s.set(slot, hash, n)
	}
	more := n - p.different
	p.different, p.used = n, n
	if t.held.Add(int64(more)) > t.limit {
		t.full.Store(true)
	}
}

// at is a pair of a part.
func (p *part) at(i int) *pair { return &p.pages[i/pagePairs][i%pagePairs] }

// slots say by hash where in a part a cell is: its place + 1 in the last 32 bits, and
// the first ones of its hash before them; 0 is free. They are open-addressed.
type slots struct{ of []uint64 }

// clear makes room for so many cells.
func (s *slots) clear(cells int) {
	n := 1 << bits.Len(uint(cells+cells/2))
	if cap(s.of) < n {
		s.of = make([]uint64, n)
	}
	s.of = s.of[:n]
	clear(s.of)
}

// free is the slot of a cell that is not there.
func (s *slots) free(hash uint64) uint64 {
	mask := uint64(len(s.of) - 1)
	at := hash & mask
	for s.of[at] != 0 {
		at = (at + 1) & mask
	}
	return at
}

// find is the slot of a cell, and its place + 1, or 0 where it is not there.
func (s *slots) find(hash, cell uint64, p *part) (slot uint64, place int) {
	mask := uint64(len(s.of) - 1)
	for at := hash & mask; ; at = (at + 1) & mask {
		is := s.of[at]
		if is == 0 {
			return at, 0
		}
		if place := int(uint32(is)); (is^hash)>>32 == 0 && p.at(place-1).cell == cell {
			return at, place
		}
	}
}

// set fills a slot.
func (s *slots) set(slot, hash uint64, place int) { s.of[slot] = hash>>32<<32 | uint64(place) }

// finish returns all cells, ascending, and lets go of the parts.
func (t *occupiedTable) finish(ctx context.Context, workers int) (cells []uint64, counts []int64, err error) {
	scratch := sync.Pool{New: func() any { return new(slots) }}
	err = parallel.Do(ctx, workers, len(t.parts), func(i int) error {
		s := scratch.Get().(*slots)
		defer scratch.Put(s)
		t.merge(&t.parts[i], s)
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
	return all.cells, all.counts, sorted(ctx, workers, all)
}

// occupiedWorker is what one worker has gathered for each part.
type occupiedWorker struct {
	table  *occupiedTable
	pairs  []pair // room for each part
	filled []int  // of it
	slots  slots
}

func (t *occupiedTable) worker() *occupiedWorker {
	return &occupiedWorker{table: t, pairs: make([]pair, len(t.parts)*t.room), filled: make([]int, len(t.parts))}
}

// ErrSums says that the integers of rows in a table of occupied cells add up to 2^63 or more.
var ErrSums = errors.New("the integers of rows in a table of occupied cells add up to 2^63 or more")

// add counts rows by their cells. Where there are more cells than there is memory for,
// it goes on without a word: what else is wrong with the rows comes first.
func (w *occupiedWorker) add(cells []uint64, added []int64) error {
	if added != nil {
		if h := heft(added, len(added), nil); h > mostSum || w.table.weight.Add(h) > mostSum {
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
		p := int(w.table.hash(cell) >> (64 - w.table.bits))
		if w.filled[p] == room {
			w.hand(p)
		}
		w.pairs[p*room+w.filled[p]] = pair{cell, n}
		w.filled[p]++
	}
	return nil
}

// hand gives what was gathered for a part to the table.
func (w *occupiedWorker) hand(p int) {
	from := p * w.table.room
	w.table.take(&w.table.parts[p], w.pairs[from:from+w.filled[p]], &w.slots)
	w.filled[p] = 0
}

// end hands on what is left.
func (w *occupiedWorker) end() {
	for p := range w.filled {
		w.hand(p)
	}
	w.pairs, w.filled, w.slots = nil, nil, slots{}
}
