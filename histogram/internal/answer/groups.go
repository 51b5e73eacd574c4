package answer

// This file holds the groups of an answer whose categories are not listed.

import (
	"crypto/sha256"
	"encoding/binary"
	"io"

	"github.com/dprelease/dprelease/spec/domain"
)

// Groups are the groups that a query has counted by columns whose categories are not listed, by the texts of their
// keys.
type Groups struct{ Levels []*domain.Level }

// Keys returns the texts of the keys of a group.
func (g *Groups) Keys(cell uint64) []string {
	texts := make([]string, len(g.Levels))
	for i := len(g.Levels) - 1; i >= 0; i-- {
		size := uint64(g.Levels[i].Size())
		texts[i] = g.Levels[i].Categories[cell%size].Code
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
