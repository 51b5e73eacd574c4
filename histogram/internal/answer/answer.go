package answer

// This file holds the exact answer to one question.

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"runtime"
	"slices"

	"github.com/dprelease/dprelease/internal/parallel"
	"github.com/dprelease/dprelease/internal/tabulate"
)

// Answer holds the exact integers of a question: of all its cells in row-major order, the last factor fastest, or,
// where Cells is not nil, of those, ascending, and 0 of all others. The cells of quantiles are pairs:
// cell·[domain.Lattice.Places] + place on the column's lattice. It shows "confidential" however it is printed.
type Answer struct {
	Redacted
	Cells  []uint64
	Counts []int64
	Narrow *tabulate.Narrow // in the place of Counts, where there are very many
	Groups *Groups          // what the cells are, where categories are not listed
}

// Len returns how many integers there are.
func (t Answer) Len() int {
	if t.Narrow != nil {
		return len(t.Narrow.Low)
	}
	return len(t.Counts)
}

// Read writes the integers from place first on.
func (t Answer) Read(to []int64, first int) {
	if t.Narrow != nil {
		t.Narrow.Read(to, first)
		return
	}
	copy(to, t.Counts[first:])
}

// Wide returns the same answer, none of it narrow.
func (t Answer) Wide() Answer {
	if t.Narrow == nil {
		return t
	}
	counts := make([]int64, t.Len())
	t.Read(counts, 0)
	return Answer{Counts: counts}
}

// Most is the largest absolute value of a sum, or of what one row adds: half of what noise is added up to, so that none
// that a plan may have runs over once the release is paid for.
const Most = 1 << 61

// Ascending reports whether every count has a cell of its own, ascending and below so many cells.
func (t Answer) Ascending(cells uint64) bool {
	for i, cell := range t.Cells {
		if cell >= cells || i > 0 && t.Cells[i-1] >= cell {
			return false
		}
	}
	return t.Narrow == nil && len(t.Cells) == len(t.Counts)
}

// Least reports whether no count is below a number, 0 or 1. Narrow ones are 0 or more.
func (t Answer) Least(n int64) bool {
	return !slices.ContainsFunc(t.Counts, func(count int64) bool { return count < n })
}

// Bounded reports whether no count is beyond [Most] on either side.
func (t Answer) Bounded() bool {
	return !slices.ContainsFunc(t.Counts, func(count int64) bool { return count > Most || count < -Most })
}

// Hash is the SHA-256 of the counts. That of a sparse measurement is of its places and of its counts.
func (t Answer) Hash() []byte {
	switch {
	case t.Groups != nil:
		return t.Groups.hash(t)
	case t.Narrow != nil:
		return hashOfNarrow(t.Narrow)
	case t.Cells == nil:
		return HashOf(t.Counts)
	}
	h := sha256.New()
	h.Write(HashOf(t.Cells))
	h.Write(HashOf(t.Counts))
	return h.Sum(nil)
}

// Of hashBlock integers each is hashed by itself, side by side with others, and hashPiece of them are written at a
// time.
const (
	hashBlock = 1 << 18
	hashPiece = 1 << 12
)

// HashOf is the SHA-256 of how many integers there are, in 8 bytes, and of the SHA-256 of every block of hashBlock of
// them, which are written one after the other as varints (in most large tables a byte each), of which none begins
// another: other integers are other bytes.
func HashOf[T int64 | uint64](counts []T) []byte {
	return hashOfVarints(len(counts), func(to []byte, first, end int) []byte {
		for _, c := range counts[first:end] {
			to = binary.AppendVarint(to, int64(c))
		}
		return to
	})
}

// hashOfNarrow is hashOf the same counts in 64 bits.
func hashOfNarrow(n *tabulate.Narrow) []byte {
	return hashOfVarints(len(n.Low), func(to []byte, first, end int) []byte {
		over, _ := slices.BinarySearch(n.Over, first)
		for ; first < end; first += 8 {
			low := n.Low[first:min(first+8, end)]
			if len(low) == 8 && (over == len(n.Over) || n.Over[over] >= first+8) {
				// The varint of what is below 64 is a byte of twice that.
				if eight := binary.LittleEndian.Uint64(low); eight&0xc0c0c0c0c0c0c0c0 == 0 {
					to = binary.LittleEndian.AppendUint64(to, eight<<1)
					continue
				}
			}
			for i, c := range low {
				count := int64(c)
				for ; over < len(n.Over) && n.Over[over] == first+i; over++ {
					count += 1 << 8
				}
				to = binary.AppendVarint(to, count)
			}
		}
		return to
	})
}

// hashOfVarints is hashOf n integers, of which write appends those of first..end as varints.
func hashOfVarints(n int, write func(to []byte, first, end int) []byte) []byte {
	blocks := make([][sha256.Size]byte, (n+hashBlock-1)/hashBlock)
	err := parallel.Do(context.Background(), runtime.GOMAXPROCS(0), len(blocks), func(i int) error {
		h, piece := sha256.New(), make([]byte, 0, min(n, hashPiece)*binary.MaxVarintLen64)
		for first, end := i*hashBlock, min((i+1)*hashBlock, n); first < end; first += hashPiece {
			piece = write(piece[:0], first, min(first+hashPiece, end))
			h.Write(piece)
		}
		h.Sum(blocks[i][:0])
		return nil
	})
	if err != nil {
		panic("histogram: hashing fails on no integers: " + err.Error())
	}
	h := sha256.New()
	h.Write(binary.LittleEndian.AppendUint64(nil, uint64(n)))
	for _, b := range blocks {
		h.Write(b[:])
	}
	return h.Sum(nil)
}
