package tabulate

// This file holds the narrow counts: a byte for each cell of a table that has very many, most of them with few rows.

import "slices"

// Narrow is the counts of cells, in order.
type Narrow struct {
	Low  []uint8 // of each, modulo 256
	Over []int   // cells that have 256 rows more than that, ascending; one that has more of them occurs again
}

// Read writes the counts of the cells from first on.
func (n *Narrow) Read(to []int64, first int) {
	for i, low := range n.Low[first:][:len(to)] {
		to[i] = int64(low)
	}
	at, _ := slices.BinarySearch(n.Over, first)
	for ; at < len(n.Over) && n.Over[at] < first+len(to); at++ {
		to[n.Over[at]-first] += 1 << 8
	}
}
