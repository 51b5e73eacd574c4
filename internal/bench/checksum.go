package main

// This file holds what is compared of a table of counts.

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"strings"
)

// tally is what is compared of a table of counts. It does not depend on the order of
// cells nor on whether empty ones are listed.
type tally struct {
	Cells int64 `json:"cells"` // that are not empty
	Total int64 `json:"total"` // of all counts
	Sum   int64 `json:"sum"`   // of count × weight over all cells
}

// The weight of cell i is x² mod p with x = (a·i + b) mod p. In 64 bits nothing
// overflows while a·i + b does not (i below 2^33) and the rows are fewer than 2^32. So
// SQL can work it out as well as we.
const (
	weightP = 1<<31 - 1
	weightA = 742_938_285
	weightB = 950_706_376
)

// add counts n rows in a cell: its place in the table's row-major order.
func (t *tally) add(cell, n int64) {
	if n == 0 {
		return
	}
	x := (weightA*cell + weightB) % weightP
	t.Cells++
	t.Total += n
	t.Sum += n * (x * x % weightP)
}

// tallies are those of the tables of a case, by name.
type tallies map[string]tally

// tallyOf tallies counts in row-major order.
func tallyOf(counts []uint32) tally {
	var t tally
	for cell, n := range counts {
		t.add(int64(cell), int64(n))
	}
	return t
}

// hashOf is the hash of counts in row-major order as releases are committed to it: the SHA-256 of their number and of
// that of every 2^18 of them, each written as a varint.
func hashOf(counts []uint32) [sha256.Size]byte {
	all := binary.LittleEndian.AppendUint64(nil, uint64(len(counts)))
	for block := range slices.Chunk(counts, 1<<18) {
		var words []byte
		for _, n := range block {
			words = binary.AppendVarint(words, int64(n))
		}
		sum := sha256.Sum256(words)
		all = append(all, sum[:]...)
	}
	return sha256.Sum256(all)
}

// nameOf is the name of the table of columns, given by their places.
func nameOf(places []int) string {
	var names []string
	for _, place := range places {
		names = append(names, columns[place].Name)
	}
	return strings.Join(names, ",")
}

// differ names the tables of got that are not as in want: all that is tallied, or the
// totals alone, where which rows are counted is drawn by lot. Got may hold fewer tables.
func (got tallies) differ(want tallies, totals bool) []string {
	var names []string
	for name, t := range got {
		w, ok := want[name]
		if !ok || t.Total != w.Total || !totals && t != w {
			names = append(names, name)
		}
	}
	return names
}
