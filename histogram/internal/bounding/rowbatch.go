package bounding

// This file holds the row batches: rows stored in memory, many of each partition together. Once a partition is
// decided, the decisions replace the words of the ids. Rows that batches do not take are stored as tuples (spill.go).

import "math/bits"

// rowBatch is rows of one batch of a table with 64-bit ids and without groups.
type rowBatch struct {
	firstPlace uint64 // place from which rows are counted
	// words of the ids, by partition and in reading order; once a partition is decided, 1 for a row that stays and
	// else 0
	words []uint64
	rows  []uint16 // by row, its distance from firstPlace
	ends  []uint32 // by partition, where its rows end
}

// Sizes of batches: the most rows, so that their distances from the first place fit into 16 bits, and the fewest per
// partition. A row takes as many bytes as a tuple without an id or a group.
const (
	batchRows = 1 << 16
	leastRows = 4
)

// batcher sorts rows into batches. It must not be used concurrently.
type batcher struct {
	part    []uint16 // scratch: the partition of each row
	batches []*rowBatch
}

// addBatch makes a batch of rows, the first of which has the given place, without the rows whose bit is set in out,
// which may be nil. It reports whether it did. It does not if there are too few or too many rows, or no room for
// them.
func (l *batcher) addBatch(b *Bounding, place uint64, ids []int64, out []uint64) bool {
	if len(ids) < leastRows*b.parts || len(ids) > batchRows || !b.spill.reserve(len(ids)*tupleBytes+(b.parts+1)*4) {
		return false
	}
	l.part = resize(l.part, len(ids))
	by, shift, part := b.permutation, (63-bits.Len(uint(b.parts-1)))&63, l.part
	ends := make([]uint32, b.parts+1) // after the partitions: the rows that are left out
	for i, id := range ids {
		p := by.apply(uint64(id)) >> 1 >> shift
		if out != nil && out[i>>6]>>(i&63)&1 == 1 {
			p = uint64(b.parts)
		}
		part[i] = uint16(p)
		ends[p]++
	}
	end := uint32(0)
	for p, rows := range ends {
		ends[p] = end
		end += rows
	}
	words, rows := make([]uint64, len(ids)), make([]uint16, len(ids))
	for i, p := range part {
		to := ends[p]
		ends[p] = to + 1
		words[to], rows[to] = by.apply(uint64(ids[i])), uint16(i)
	}
	n := ends[b.parts-1]
	l.batches = append(l.batches, &rowBatch{firstPlace: place, words: words[:n], rows: rows[:n], ends: ends[:b.parts]})
	return true
}

// rowsOf returns the range from..to of the rows of a partition.
func (l *rowBatch) rowsOf(p int) (from, to int) {
	if p > 0 {
		from = int(l.ends[p-1])
	}
	return from, int(l.ends[p])
}

// placeOf returns the place of row i.
func (l *rowBatch) placeOf(i int) uint64 { return l.firstPlace + uint64(l.rows[i]) }

// setKept sets the bits of the rows that stay, once all partitions are decided.
func (l *rowBatch) setKept(k *KeptRows) {
	if len(l.rows) == 0 {
		return
	}
	bits, first := k.pieces[l.firstPlace>>rowBits], l.firstPlace&mostRow
	stay := l.words[:len(l.rows)]
	for i, row := range l.rows {
		at := first + uint64(row)
		bits[at>>6] |= stay[i] << (at & 63)
	}
}
