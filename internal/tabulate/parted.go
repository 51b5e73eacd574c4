package tabulate

// This file holds the parted table: the counts of a base of so many cells that no cache
// holds them, cut into stretches that one does. All workers add to the same one: each
// sorts its rows by stretch, and adds a lot of them at once (radix partitioning).

import (
	"context"
	"math/bits"
	"slices"
	"sync"

	"github.com/dprelease/dprelease/internal/parallel"
)

const (
	// leastParted is the least cells of a base that is parted: below, a table for each
	// worker takes less time.
	leastParted = 1 << 21
	// stretchBits are those of a cell within its stretch, of which there are
	// mostStretches at the most: of very many cells, longer ones.
	stretchBits   = 19
	mostStretches = 1 << 10
	// lot is the most rows that are added to a stretch at once.
	lot = 1 << 10
	// cellsOfCarry is how many cells of a stretch it takes for one carry to be held.
	cellsOfCarry = 32
)

// parted counts rows of a base.
type parted struct {
	shift     int // cell >> shift is the stretch
	stretches []stretch
	counts    []uint8 // of all stretches
}

// stretch is the counts of some cells that follow one another, in 8 bits each.
type stretch struct {
	mu      sync.Mutex
	counts  []uint8
	carries []uint32 // cells that have 256 rows more than is counted; one that has more of them occurs again
	touched bool
	first   int    // cell of the base
	cells   int    // of the base
	total   *total // where all is moved to
}

// newParted cuts a base into stretches of 1<<shift cells, or of more.
func newParted(cells, shift int, to *total) *parted {
	p := &parted{shift: max(shift, bits.Len(uint(cells-1))-bits.Len(mostStretches-1)), counts: make([]uint8, cells)}
	for first := 0; first < cells; first += 1 << p.shift {
		p.stretches = append(p.stretches, stretch{counts: p.counts[first:min(first+1<<p.shift, cells)], first: first,
			cells: cells, total: to})
	}
	return p
}

// add counts a row for each of cells, which are those of the stretch, from 0.
func (s *stretch) add(cells []uint32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.touched { // memory is had faster by writing it than by reading it first
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
		s.move()
		clear(s.counts)
	}
}

// move adds a stretch to the base's total.
func (s *stretch) move() {
	s.total.mu.Lock()
	s.total.widen(s.cells)
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

// end moves what is left.
func (p *parted) end(ctx context.Context, workers int) error {
	return parallel.Do(ctx, workers, len(p.stretches), func(i int) error {
		if s := &p.stretches[i]; s.touched {
			s.move()
		}
		return nil
	})
}

// narrow is what was counted, where nothing was moved.
func (p *parted) narrow(ctx context.Context, workers int) (*Narrow, error) {
	err := parallel.Do(ctx, workers, len(p.stretches), func(i int) error {
		slices.Sort(p.stretches[i].carries)
		return nil
	})
	n := &Narrow{Low: p.counts}
	for i := range p.stretches {
		for _, x := range p.stretches[i].carries {
			n.Over = append(n.Over, p.stretches[i].first+int(x))
		}
	}
	return n, err
}

// lots are rows of one worker that wait to be added to stretches.
type lots struct {
	cells []uint32 // lot of each stretch
	ends  []int    // where the next of each goes
}

// add adds rows to a parted table.
func (l *lots) add(p *parted, c columns, rows int, cell []int) {
	for s := len(l.ends); s < len(p.stretches); s++ {
		l.cells, l.ends = append(l.cells, make([]uint32, lot)...), append(l.ends, s*lot)
	}
	shift, within, ends := p.shift, uint32(1<<p.shift-1), l.ends
	for from := 0; from < rows; from += len(cell) {
		for _, x := range c.cells(cell[:min(len(cell), rows-from)], from) {
			s := x >> (shift & 63)
			at := ends[s]
			l.cells[at] = uint32(x) & within
			at++
			ends[s] = at
			if at%lot == 0 {
				p.stretches[s].add(l.cells[at-lot : at])
				ends[s] = at - lot
			}
		}
	}
	for s := range p.stretches {
		if at := s * lot; ends[s] > at {
			p.stretches[s].add(l.cells[at:ends[s]])
			ends[s] = at
		}
	}
}
