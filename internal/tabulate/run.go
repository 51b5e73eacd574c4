package tabulate

// This file holds the run: cells with their counts, which are sorted in place, because there may be no memory for a
// copy.

import (
	"context"
	"math/bits"

	"github.com/dprelease/dprelease/internal/parallel"
)

// run is distinct cells and the count of each.
type run struct {
	cells  []uint64
	counts []int64
}

const (
	digitBits  = 8
	digits     = 1 << digitBits
	shortRun   = 32 // most cells that are sorted by insertion
	sortAtOnce = 1 << 16
)

// sortCells sorts a run by cell, on several goroutines if it is long.
func sortCells(ctx context.Context, workers int, r run) error {
	if len(r.cells) < sortAtOnce {
		r.sort()
		return ctx.Err()
	}
	ends := r.splitByDigit()
	return parallel.Do(ctx, workers, digits, func(d int) error {
		r.digitPart(&ends, d).sort()
		return nil
	})
}

// sort sorts by the digits in which cells differ, the most significant first.
func (r run) sort() {
	if len(r.cells) <= shortRun {
		r.insertionSort()
		return
	}
	ends := r.splitByDigit()
	for d := range ends {
		r.digitPart(&ends, d).sort()
	}
}

// digitPart returns the cells with a digit, given where the cells of each digit end.
func (r run) digitPart(ends *[digits]int, d int) run {
	from := 0
	if d > 0 {
		from = ends[d-1]
	}
	return run{r.cells[from:ends[d]], r.counts[from:ends[d]]}
}

// splitByDigit sorts by the first digit in which cells differ (McIlroy, Bostic & McIlroy 1993) and returns where the
// cells of each digit end.
func (r run) splitByDigit() (ends [digits]int) {
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

// insertionSort sorts few cells.
func (r run) insertionSort() {
	for i := 1; i < len(r.cells); i++ {
		cell, count := r.cells[i], r.counts[i]
		at := i
		for ; at > 0 && r.cells[at-1] > cell; at-- {
			r.cells[at], r.counts[at] = r.cells[at-1], r.counts[at-1]
		}
		r.cells[at], r.counts[at] = cell, count
	}
}
