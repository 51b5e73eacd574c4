package main

// This file counts the rows of the table as they are made, for reference. It shares no
// code with what is timed.

import "encoding/hex"

// reference is what the tables of a case must be.
type reference struct {
	tallies tallies
	hashes  map[string]string // of the counts of each table, in hexadecimal; none if rows are dropped at random
	rows    int64             // counted rows
}

// countReference counts the tables of a case.
func (c benchCase) countReference(t table) (*reference, error) {
	counts := make([][]uint32, len(c.tables))
	for i, places := range c.tables {
		counts[i] = make([]uint32, cellsOf(places))
	}
	of := make([]uint32, t.allPersons()) // rows of each person so far
	r := &reference{tallies: tallies{}, hashes: map[string]string{}}
	err := t.makeRows(func(b *block) error {
		for _, person := range b.person {
			if of[person]++; c.maxRows == 0 || of[person] <= uint32(c.maxRows) {
				r.rows++
			}
		}
		for i, places := range c.tables {
			countBlock(counts[i], places, b)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for i, places := range c.tables {
		name := nameOf(places)
		if c.maxRows > 0 { // rows beyond the bound are dropped at random; their number is fixed
			r.tallies[name] = tally{Total: r.rows}
			continue
		}
		hash := hashOf(counts[i])
		r.tallies[name], r.hashes[name] = tallyOf(counts[i]), hex.EncodeToString(hash[:])
	}
	return r, nil
}

// countBlock counts the rows of a block in one table.
func countBlock(counts []uint32, places []int, b *block) {
	for i := range b.person {
		cell := 0
		for _, place := range places {
			cell = cell*columns[place].Size + int(b.codes[place][i])
		}
		counts[cell]++
	}
}
