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

// Answer holds the exact integers of a question. If Cells is nil, it has one for each cell in row-major order, the
// last factor fastest. If not, it has one for each of Cells, which are ascending, and 0 for all others. The cells of
// quantiles are pairs: cell·[domain.Lattice.PointCount] + index on the column's lattice. It shows "confidential"
// however it is printed.
type Answer struct {
	Redacted
	Cells   []uint64
	Counts  []int64
	Compact *tabulate.CompactCounts // in place of Counts, if there are very many
	Groups  *Groups                 // what the cells are, if categories are not listed
}

// Len returns how many integers there are.
func (t Answer) Len() int {
	if t.Compact != nil {
		return len(t.Compact.Low)
	}
	return len(t.Counts)
}

// Read copies the integers, beginning at index first.
func (t Answer) Read(to []int64, first int) {
	if t.Compact != nil {
		t.Compact.Read(to, first)
		return
	}
	copy(to, t.Counts[first:])
}

// Expanded returns the same answer without Compact.
func (t Answer) Expanded() Answer {
	if t.Compact == nil {
		return t
	}
	counts := make([]int64, t.Len())
	t.Read(counts, 0)
	return Answer{Counts: counts}
}

// MaxMagnitude is the largest absolute value of a sum, or of what one row adds. It is half of the largest value to
// which noise is added, so that no noise of a plan overflows once the release is paid for.
const MaxMagnitude = 1 << 61

// Ascending reports whether every count has a cell of its own, and the cells are ascending and below cells.
func (t Answer) Ascending(cells uint64) bool {
	for i, cell := range t.Cells {
		if cell >= cells || i > 0 && t.Cells[i-1] >= cell {
			return false
		}
	}
	return t.Compact == nil && len(t.Cells) == len(t.Counts)
}

// AllAtLeast reports whether no count is below n, which is 0 or 1. Narrow counts are never negative.
func (t Answer) AllAtLeast(n int64) bool {
	return !slices.ContainsFunc(t.Counts, func(count int64) bool { return count < n })
}

// Bounded reports whether no count is beyond [Most] in either direction.
func (t Answer) Bounded() bool {
	return !slices.ContainsFunc(t.Counts, func(count int64) bool {
		return count > MaxMagnitude ||
			count < -MaxMagnitude
	})
}

// Hash returns the SHA-256 of the counts. The hash of a sparse measurement covers its cells and its counts.
func (t Answer) Hash() []byte {
	switch {
	case t.Groups != nil:
		return t.Groups.hash(t)
	case t.Compact != nil:
		return hashOfNarrow(t.Compact)
	case t.Cells == nil:
		return HashOf(t.Counts)
	}
	h := sha256.New()
	h.Write(HashOf(t.Cells))
	h.Write(HashOf(t.Counts))
	return h.Sum(nil)
}

const (
	// Blocks of hashBlock integers are hashed independently and in parallel; hashPiece integers are written at a time.
	hashBlock = 1 << 18
	hashPiece = 1 << 12
)

// HashOf returns the SHA-256 of the number of integers, in 8 bytes, and of the SHA-256 of every block of hashBlock of
// them. The integers of a block are written one after another as varints (in most large tables a byte each). No
// varint is a prefix of another, so different integers are different bytes.
func HashOf[T int64 | uint64](counts []T) []byte {
	return hashOfVarints(len(counts), func(to []byte, first, end int) []byte {
		for _, c := range counts[first:end] {
			to = binary.AppendVarint(to, int64(c))
		}
		return to
	})
}

// hashOfNarrow is HashOf the same counts in 64 bits.
func hashOfNarrow(n *tabulate.CompactCounts) []byte {
	return hashOfVarints(len(n.Low), func(to []byte, first, end int) []byte {
		over, _ := slices.BinarySearch(n.Over, first)
		for ; first < end; first += 8 {
			low := n.Low[first:min(first+8, end)]
			if len(low) == 8 && (over == len(n.Over) || n.Over[over] >= first+8) {
				// The varint of a number below 64 is one byte, twice the number.
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

// hashOfVarints is HashOf n integers. write appends the integers first..end as varints.
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
