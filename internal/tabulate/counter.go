package tabulate

// This file holds the counter: what all workers count together.

import (
	"context"
	"errors"

	"github.com/dprelease/dprelease/internal/parallel"
)

// Counter counts rows for one request. Only one goroutine at a time may call its methods; each of its workers is for
// one goroutine.
type Counter struct {
	*cover
	totals   []total
	common   []*table       // tables of shared bases, else nil
	parted   []*partedTable // tables of partitioned bases, else nil
	occupied []*occupiedTable
	workers  []*Worker
	most     uint64 // most that a table may count before it is moved to its total
}

// Table is the counts of one ask.
type Table struct {
	Cells   []uint64       // the cells with rows, ascending, of an ask for occupied cells; else nil
	Counts  []int64        // by cell, or by entry of Cells
	Compact *CompactCounts // in place of Counts, if a table has very many cells and most of them few rows
	// High is nil unless some sum of integers is not one of 64 bits: then sums are
	// High·2^64 + uint64(Counts).
	High []int64
}

// ErrMemory reports that the occupied cells do not fit into the memory given.
var ErrMemory = errors.New("the cells that rows fall into do not fit into memory")

// New plans how to count a request.
func New(r Request) (*Counter, error) {
	r.Workers = max(r.Workers, 1)
	if err := r.check(); err != nil {
		return nil, err
	}
	c := &Counter{cover: newCover(&r), most: mostCount}
	if r.HasAddends {
		c.most = mostSum
	}
	c.totals, c.common, c.parted = make([]total, len(c.bases)), make([]*table, len(c.bases)),
		make([]*partedTable, len(c.bases))
	for i, b := range c.bases {
		switch {
		case b.parted:
			c.parted[i] = newParted(b.cells, stretchBits, &c.totals[i])
		case b.shared:
			c.common[i] = &table{total: &c.totals[i]}
		}
	}
	pool := newPool(&r, c.cover)
	for range c.cover.occupied {
		c.occupied = append(c.occupied, newOccupiedTable(pool))
	}
	return c, nil
}

// Finish ends the counting and returns the tables, one for each ask, in order. It releases everything else.
func (c *Counter) Finish(ctx context.Context) ([]Table, error) {
	out := make([]Table, len(c.request.Tables))
	err := parallel.Do(ctx, c.request.Workers, len(c.workers), func(i int) error {
		c.workers[i].finishBlock()
		return nil
	})
	if err != nil {
		return nil, err
	}
	for i, p := range c.parted {
		switch {
		case p == nil:
		case c.totals[i].low == nil && c.isAskItself(i):
			c.totals[i].narrow, err = p.narrowCounts(ctx, c.request.Workers)
		default:
			err = p.moveAll(ctx, c.request.Workers)
		}
		if err != nil {
			return nil, err
		}
		c.parted[i] = nil
	}
	err = parallel.Do(ctx, c.request.Workers, len(c.bases), func(i int) error {
		c.projectBase(i, out)
		return nil
	})
	if err != nil {
		return nil, err
	}
	for i, ask := range c.cover.occupied {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if out[ask].Cells, out[ask].Counts, err = c.occupied[i].sortedCells(ctx, c.request.Workers); err != nil {
			return nil, err
		}
		c.occupied[i] = nil
	}
	return out, nil
}
