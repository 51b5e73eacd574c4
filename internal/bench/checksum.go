package main

// This file holds the checksums by which tables of counts are compared.

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"strings"
)

// tally is a checksum of a table of counts. It depends neither on the order of cells nor on whether empty ones are
// listed.
type tally struct {
	Cells int64 `json:"cells"` // that are not empty
	Total int64 `json:"total"` // of all counts
	Sum   int64 `json:"sum"`   // of count × weight over all cells
}

// The weight of cell i is x² mod p with x = (a·i + b) mod p. In 64 bits nothing
// overflows while a·i + b does not (i below 2^33) and the rows are fewer than 2^32. So
// SQL can compute it too.
const (
	weightP = 1<<31 - 1
	weightA = 742_938_285
	weightB = 950_706_376
)

// addCount adds n rows in a cell, given by its index in the table's row-major order.
func (t *tally) addCount(cell, n int64) {
	if n == 0 {
		return
	}
	x := (weightA*cell + weightB) % weightP
	t.Cells++
	t.Total += n
	t.Sum += n * (x * x % weightP)
}

// tallies are the tallies of the tables of a case, by name.
type tallies map[string]tally

// tallyOf returns the tally of counts in row-major order.
func tallyOf(counts []uint32) tally {
	var t tally
	for cell, n := range counts {
		t.addCount(int64(cell), int64(n))
	}
	return t
}

// hashOf returns the hash of counts in row-major order to which releases are committed: the SHA-256 of the number of
// counts and of the SHA-256 of every 2^18 of them, each written as a varint.
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

// nameOf returns the name of the table of columns, given by their indices.
func nameOf(places []int) string {
	var names []string
	for _, place := range places {
		names = append(names, columns[place].Name)
	}
	return strings.Join(names, ",")
}

// differing returns the names of the tables whose tally is not the wanted one, or whose total is not if only totals
// are compared, because rows are dropped at random. Some wanted tables may be missing.
func (got tallies) differing(want tallies, totals bool) []string {
	var names []string
	for name, t := range got {
		w, ok := want[name]
		if !ok || t.Total != w.Total || !totals && t != w {
			names = append(names, name)
		}
	}
	return names
}
