package tabulate

// This file holds the partitioned table: the counts of a base with more cells than a cache holds, cut into stretches
// that fit. All workers add to the same table: each sorts its rows by stretch, and adds many of them at once (radix
// partitioning).

import (
	"context"
	"math/bits"
	"slices"
	"sync"

	"github.com/dprelease/dprelease/internal/parallel"
)

const (
	// leastParted is the fewest cells of a base that is partitioned. For smaller bases a table for each worker is
	// faster.
	leastParted = 1 << 21
	// stretchBits is the number of bits of a cell within its stretch. There are at most mostStretches; for very many
	// cells stretches are longer.
	stretchBits   = 19
	mostStretches = 1 << 10
	// batchRows is the most rows that are added to a stretch at once.
	batchRows = 1 << 10
	// cellsOfCarry is the number of cells of a stretch for each carry that is kept.
	cellsOfCarry = 32
)

// partedTable counts rows of a base.
type partedTable struct {
	shift     int // cell >> shift is the stretch
	stretches []stretch
	counts    []uint8 // of all stretches
}

// stretch is the counts of consecutive cells, in 8 bits each.
type stretch struct {
	mu      sync.Mutex
	counts  []uint8
	carries []uint32 // each occurrence of a cell stands for 256 more rows
	touched bool
	first   int    // first cell within the base
	cells   int    // number of cells of the base
	total   *total // total to which counts are moved
}

// newParted cuts a base into stretches of 1<<shift cells or more.
func newParted(cells, shift int, to *total) *partedTable {
	p := &partedTable{shift: max(shift, bits.Len(uint(cells-1))-bits.Len(mostStretches-1)),
		counts: make([]uint8, cells)}
	for first := 0; first < cells; first += 1 << p.shift {
		p.stretches = append(p.stretches, stretch{counts: p.counts[first:min(first+1<<p.shift, cells)], first: first,
			cells: cells, total: to})
	}
	return p
}

// addCells counts a row for each of cells, which are numbered from the start of the stretch.
func (s *stretch) addCells(cells []uint32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.touched { // writing fresh memory is faster than reading it first
		clear(s.counts)
		s.touched = true
	}
	counts := s.counts
	for _, x := range cells {
		counts[x]++
		if counts[x] == 0 {
			s.carries = append(s.carries, x)
		}
	}
	if len(s.carries) > len(s.counts)/cellsOfCarry {
		s.moveToTotal()
		clear(s.counts)
	}
}

// moveToTotal adds a stretch to the base's total.
func (s *stretch) moveToTotal() {
	s.total.mu.Lock()
	s.total.allocate(s.cells)
	s.total.mu.Unlock()
	low := s.total.low[s.first:][:len(s.counts)]
	for i, n := range s.counts {
		low[i] += int64(n)
	}
	for _, x := range s.carries {
		low[x] += 1 << 8
	}
	s.carries = s.carries[:0]
}

// moveAll moves what is left to the total.
func (p *partedTable) moveAll(ctx context.Context, workers int) error {
	return parallel.Do(ctx, workers, len(p.stretches), func(i int) error {
		if s := &p.stretches[i]; s.touched {
			s.moveToTotal()
		}
		return nil
	})
}

// narrowCounts returns the counts if nothing was moved to the total.
func (p *partedTable) narrowCounts(ctx context.Context, workers int) (*CompactCounts, error) {
	err := parallel.Do(ctx, workers, len(p.stretches), func(i int) error {
		slices.Sort(p.stretches[i].carries)
		return nil
	})
	n := &CompactCounts{Low: p.counts}
	for i := range p.stretches {
		for _, x := range p.stretches[i].carries {
			n.Over = append(n.Over, p.stretches[i].first+int(x))
		}
	}
	return n, err
}

// stretchBatches is rows of one worker that wait to be added to stretches.
type stretchBatches struct {
	cells []uint32 // batchRows entries for each stretch
	ends  []int    // by stretch, where its next row goes
}

// addRows adds rows to a partitioned table.
func (l *stretchBatches) addRows(p *partedTable, c baseColumns, rows int, cell []int) {
	for s := len(l.ends); s < len(p.stretches); s++ {
		l.cells, l.ends = append(l.cells, make([]uint32, batchRows)...), append(l.ends, s*batchRows)
	}
	shift, within, ends := p.shift, uint32(1<<p.shift-1), l.ends
	for from := 0; from < rows; from += len(cell) {
		for _, x := range c.cellsOf(cell[:min(len(cell), rows-from)], from) {
			s := x >> (shift & 63)
			at := ends[s]
			l.cells[at] = uint32(x) & within
			at++
			ends[s] = at
			if at%batchRows == 0 {
				p.stretches[s].addCells(l.cells[at-batchRows : at])
				ends[s] = at - batchRows
			}
		}
	}
	for s := range p.stretches {
		if at := s * batchRows; ends[s] > at {
			p.stretches[s].addCells(l.cells[at:ends[s]])
			ends[s] = at
		}
	}
}
