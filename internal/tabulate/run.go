package tabulate

// This file holds the run: cells with their counts, and how they are sorted where they
// lie, since there may be no memory for them twice.

import (
	"context"
	"math/bits"

	"github.com/dprelease/dprelease/internal/parallel"
)

// run is different cells and the count of each.
type run struct {
	cells  []uint64
	counts []int64
}

const (
	digitBits  = 8
	digits     = 1 << digitBits
	shortRun   = 32 // that is sorted by insertion
	sortAtOnce = 1 << 16
)

// sorted sorts a run by cell, on several goroutines where it is long.
func sorted(ctx context.Context, workers int, r run) error {
	if len(r.cells) < sortAtOnce {
		r.sort()
		return ctx.Err()
	}
	ends := r.split()
	return parallel.Do(ctx, workers, digits, func(d int) error {
		r.part(&ends, d).sort()
		return nil
	})
}

// sort sorts by the digits in which cells differ, the most significant first.
func (r run) sort() {
	if len(r.cells) <= shortRun {
		r.insert()
		return
	}
	ends := r.split()
	for d := range ends {
		r.part(&ends, d).sort()
	}
}

// part is the cells of a digit, by where each digit's end.
func (r run) part(ends *[digits]int, d int) run {
	from := 0
	if d > 0 {
		from = ends[d-1]
	}
	return run{r.cells[from:ends[d]], r.counts[from:ends[d]]}
}

// split sorts by the first digit in which cells differ (McIlroy, Bostic & McIlroy 1993)
// and returns where the cells of each digit end.
func (r run) split() (ends [digits]int) {
	differ := uint64(0)
	for _, c := range r.cells {
		differ |= c ^ r.cells[0]
	}
	shift := max(bits.Len64(differ)-digitBits, 0)
	for _, c := range r.cells {
		ends[c>>shift%digits]++
	}
	var next [digits]int
	at := 0
	for d, n := range ends {
		next[d] = at
		at += n
		ends[d] = at
	}
	for d := range next {
		for ; next[d] < ends[d]; next[d]++ {
			cell, count := r.cells[next[d]], r.counts[next[d]]
			for to := cell >> shift % digits; to != uint64(d); to = cell >> shift % digits {
				i := next[to]
				next[to]++
				r.cells[i], cell = cell, r.cells[i]
				r.counts[i], count = count, r.counts[i]
			}
			r.cells[next[d]], r.counts[next[d]] = cell, count
		}
	}
	return ends
}

// insert sorts few cells.
func (r run) insert() {
	for i := 1; i < len(r.cells); i++ {
		cell, count := r.cells[i], r.counts[i]
		at := i
		for ; at > 0 && r.cells[at-1] > cell; at-- {
			r.cells[at], r.counts[at] = r.cells[at-1], r.counts[at-1]
		}
		r.cells[at], r.counts[at] = cell, count
	}
}
