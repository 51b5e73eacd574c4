package answer

// This file holds the groups of an answer whose categories are not listed.

import (
	"crypto/sha256"
	"encoding/binary"
	"io"
)

// Groups are the groups that a query has counted by columns whose categories are not listed.
type Groups struct {
	Categories [][]string // by column, the texts of the keys, in the order of their codes
}

// Keys returns the texts of the keys of a group.
func (g *Groups) Keys(cell uint64) []string {
	texts := make([]string, len(g.Categories))
	for i := len(g.Categories) - 1; i >= 0; i-- {
		size := uint64(len(g.Categories[i]))
		texts[i] = g.Categories[i][cell%size]
		cell /= size
	}
	return texts
}

// hash returns the SHA-256 of the counts of groups with the texts of their keys.
func (g *Groups) hash(t Answer) []byte {
	h := sha256.New()
	h.Write(HashOf(t.Counts))
	var length [8]byte
	for _, cell := range t.Cells {
		for _, text := range g.Keys(cell) {
			binary.BigEndian.PutUint64(length[:], uint64(len(text)))
			h.Write(length[:])
			io.WriteString(h, text)
		}
	}
	return h.Sum(nil)
}
