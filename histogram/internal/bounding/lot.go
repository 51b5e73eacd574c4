package bounding

// This file holds the lots: rows put aside in memory, many of a partition side by side, whose decisions come to stand
// where they themselves stood. What lots do not take is put aside as tuples (spill.go).

import "math/bits"

// lot is rows of one batch of a table whose ids are 64 bits long and whose groups do not matter.
type lot struct {
	place uint64 // that rows are counted from
	// of the ids, by partition and in reading order; once the units of a partition are decided, whether rows stay: 1 or 0
	words []uint64
	rows  []uint16 // how far the place of each lies behind
	ends  []uint32 // of each partition
}

// Sizes of lots: the most rows, which their places behind the first have room for, and the least for each partition. A
// row takes as many bytes as a tuple, without more.
const (
	lotRows   = 1 << 16
	leastRows = 4
)

// lotter sorts rows into lots. Not for concurrent use.
type lotter struct {
	part []uint16 // scratch: the partition of each row
	lots []*lot
}

// Add makes a lot of the rows of a batch, of which the first has the place given, but for those whose bit is set in
// out, which may be nil. It says whether it does: not where they are too few or too many, or there is no room for them.
func (l *lotter) add(b *Bounding, place uint64, ids []int64, out []uint64) bool {
	if len(ids) < leastRows*b.parts || len(ids) > lotRows || !b.spill.reserve(len(ids)*tupleBytes+(b.parts+1)*4) {
		return false
	}
	l.part = fit(l.part, len(ids))
	by, shift, part := b.permutation, (63-bits.Len(uint(b.parts-1)))&63, l.part
	ends := make([]uint32, b.parts+1) // behind the partitions: the rows that are left out
	for i, id := range ids {
		p := by.of(uint64(id)) >> 1 >> shift
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
		words[to], rows[to] = by.of(uint64(ids[i])), uint16(i)
	}
	n := ends[b.parts-1]
	l.lots = append(l.lots, &lot{place: place, words: words[:n], rows: rows[:n], ends: ends[:b.parts]})
	return true
}

// of are the rows of a partition: from, and behind them to.
func (l *lot) of(p int) (from, to int) {
	if p > 0 {
		from = int(l.ends[p-1])
	}
	return from, int(l.ends[p])
}

// at is the place of row i.
func (l *lot) at(i int) uint64 { return l.place + uint64(l.rows[i]) }

// keep sets the bits of the rows that stay, once all partitions are decided.
func (l *lot) keep(k *Kept) {
	if len(l.rows) == 0 {
		return
	}
	bits, first := k.pieces[l.place>>rowBits], l.place&mostRow
	stay := l.words[:len(l.rows)]
	for i, row := range l.rows {
		at := first + uint64(row)
		bits[at>>6] |= stay[i] << (at & 63)
	}
}
