package tabulate

// This file holds the narrow counts: a byte for each cell of a table with very many cells, most of them with few
// rows.

import "slices"

// CompactCounts is the counts of cells, in order.
type CompactCounts struct {
	Low  []uint8 // count of each cell, modulo 256
	Over []int   // ascending: each occurrence of a cell adds 256 to its count
}

// Read writes the counts of consecutive cells, beginning at first.
func (n *CompactCounts) Read(to []int64, first int) {
	for i, low := range n.Low[first:][:len(to)] {
		to[i] = int64(low)
	}
	at, _ := slices.BinarySearch(n.Over, first)
	for ; at < len(n.Over) && n.Over[at] < first+len(to); at++ {
		to[n.Over[at]-first] += 1 << 8
	}
}
