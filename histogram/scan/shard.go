package scan

// This file holds the shards: what one of several machines counts, each a part of the units.

import (
	"fmt"

	"github.com/dprelease/dprelease/histogram/internal/bounding"
	"github.com/dprelease/dprelease/histogram/internal/units"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/spec"
)

// Shard is what one of several machines counts: number Number, from 1, of Of.
//
// Guarantee: each unit, each row that is a unit, and each row without an id is in exactly one shard. If the machines
// have the same files, that follows from how units are divided (bounding.NewShard). If each has files of its own, with
// all rows of their units, the machines list their units, and [Parts] finds those that two of them have. Argument:
// docs/proofs/shards.md.
type Shard struct {
	Number, Of int
	OwnFiles   bool // the machine has files that no other has; else all have the same
}

// MostShards is the largest number of shards.
const MostShards = 1024

// String returns the shard as it is written on a command line.
func (s Shard) String() string { return fmt.Sprintf("%d/%d", s.Number, s.Of) }

// division tells the rows of a table that are in a machine's shard from those in others. The zero division has all
// rows.
type division struct {
	dividers []*bounding.Sampler // by worker, nil if all rows are in the shard
	units    *units.List         // of the shard, nil if they need not be known
	listers  []*units.Lister     // by worker
	rows     bool                // each row is a unit
}

// newDivision returns the division of a table for one shard.
func newDivision(s Shard, table *spec.Table, workers int, streams *noise.RowStreams) (division, error) {
	d := division{rows: table.Unit.Row}
	switch {
	case s.OwnFiles && !d.rows:
		d.units = units.New(streams.Units(table.Name))
		for range workers {
			d.listers = append(d.listers, d.units.Lister())
		}
	case !s.OwnFiles && s.Of > 1:
		all := bounding.NewShard(s.Number, s.Of, streams.Shards())
		for range workers {
			one, err := all.Sampler()
			if err != nil {
				return d, err
			}
			d.dividers = append(d.dividers, one)
		}
	}
	return d, nil
}

// withoutOthers marks the rows of a judged chunk that are in other shards as outside, and returns the rows that are
// left out including these. They have kept the contract: that is asked of all rows that are read. A reading without ids
// marks none, as bounding has left them out before.
func (d division) withoutOthers(worker int, c *chunk, piece int, first int64, out []uint64) []uint64 {
	if d.dividers == nil || !d.rows && c.ids == nil {
		return out
	}
	others := d.dividers[worker].Mask(c.ids, c.rows, piece, first, nil)
	if c.outside == nil {
		c.outside = clearedBits(&c.out, c.rows)
	}
	if out == nil {
		out = clearedBits(&c.left, c.rows)
	}
	for i, word := range others {
		c.outside[i] |= word
		out[i] |= word
	}
	return out
}

// listUnits adds the units of the rows of a judged chunk to the shard's list, if there is one: also of rows that are
// left out, as diagnostics count them.
func (d division) listUnits(worker int, c *chunk) error {
	if d.listers == nil || c.ids == nil {
		return nil
	}
	return d.listers[worker].Add(c.ids, c.outside)
}
