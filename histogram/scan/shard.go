package scan

// This file holds the shards: what one of several machines counts, each a part of the units.

import (
	"fmt"
	"slices"

	"github.com/dprelease/dprelease/histogram"
	"github.com/dprelease/dprelease/histogram/internal/bounding"
	"github.com/dprelease/dprelease/histogram/source"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/spec"
)

// Shard is what one of several machines counts: number Number, from 1, of Of.
//
// Guarantee: each unit, and each row that is a unit, is in exactly one shard. If the machines have the same files, that
// follows from how units are divided (bounding.NewShard). If each has files of its own, with all rows of their units,
// the machines list their units, and [Merge] finds those that two of them have. Argument: docs/proofs/shards.md.
type Shard struct {
	Number, Of int
	OwnFiles   bool // the machine has files that no other has; else all have the same
}

// MostShards is the largest number of shards.
const MostShards = 1024

// String returns the shard as it is written on a command line.
func (s Shard) String() string { return fmt.Sprintf("%d/%d", s.Number, s.Of) }

// CheckShards returns an error if questions ask of a table what cannot be put together from shards. Errors are
// *[source.Error].
func CheckShards(q histogram.Questions, ownFiles bool) error {
	found := func(table *spec.Table) (*spec.Table, error) { return discoverMadeUp(table, q.Measurements), nil }
	return eachTally(q, 1, found, func(t *tally, _ bool) error {
		why := ""
		switch {
		case t.table.Source.Database != nil:
			why = "it is in a database; count it on one machine, or export it to files"
		case ownFiles && t.link != nil:
			why = "microdata link its rows to another table; give all machines the same files, without --own-files"
		case ownFiles && t.drawsUnits():
			why = "a sample of its units is drawn; give all machines the same files, without --own-files"
		}
		if why == "" {
			return nil
		}
		return &source.Error{Kind: source.Malformed, File: "table " + t.table.Name, Message: "cannot be counted in shards: " + why}
	})
}

// beginShard prepares the counting of a shard.
func (t *tally) beginShard(s Shard, streams *noise.RowStreams) error {
	if t.part || s.Of == 0 {
		return nil
	}
	t.part, t.expect.ofPart = true, true
	if s.OwnFiles && !t.table.Unit.Row {
		t.units = newUnitList(streams.Units(t.table.Name))
		for range t.workers {
			t.listers = append(t.listers, t.units.lister())
		}
	}
	if s.OwnFiles || s.Of == 1 {
		return nil
	}
	units := bounding.NewShard(s.Number, s.Of, streams.Shards())
	for range t.workers {
		one, err := units.Sampler()
		if err != nil {
			return err
		}
		t.dividers = append(t.dividers, one)
	}
	return nil
}

// withoutOthers marks the rows of a judged chunk that are in other shards as outside, and returns the rows that are
// left out including these. They have kept the contract: that is asked of all rows that are read. A reading without ids
// marks none, as bounding has left them out before.
func (t *tally) withoutOthers(worker int, c *chunk, piece int, first int64, out []uint64) []uint64 {
	if t.dividers == nil || !t.table.Unit.Row && c.ids == nil {
		return out
	}
	others := t.dividers[worker].Mask(c.ids, c.rows, piece, first, nil)
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

// listUnits adds the units of the rows that count to the shard's list, if there is one.
func (t *tally) listUnits(worker int, c *chunk, out []uint64) error {
	if t.listers == nil || c.ids == nil {
		return nil
	}
	return t.listers[worker].add(c.ids, out)
}

// closeUnits removes what a list of units holds on disk.
func (t *tally) closeUnits() error {
	if t.units == nil {
		return nil
	}
	return t.units.close()
}

// sameShards returns an error unless there is one part for each shard, all of the same division.
func sameShards(parts []Part) error {
	var numbers []int
	for _, p := range parts {
		if p.shard.Of != len(parts) || p.shard.OwnFiles != parts[0].shard.OwnFiles {
			return ErrShards
		}
		numbers = append(numbers, p.shard.Number)
	}
	slices.Sort(numbers)
	for i, n := range numbers {
		if n != i+1 {
			return ErrShards
		}
	}
	return nil
}
