package scan

// This file holds the chunk: rows as they are read, in codes column by column, and
// what is said of each from its own values alone.

import (
	"math/bits"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/dprelease/dprelease/histogram/internal/bounding"
	"github.com/dprelease/dprelease/histogram/internal/encoding"
	"github.com/dprelease/dprelease/histogram/source"
	"github.com/dprelease/dprelease/internal/tabulate"
)

// chunk is up to source.MaxRows rows of a piece. One goroutine reads all its rows
// through one chunk.
type chunk struct {
	rows    int
	codes   []tabulate.Codes // of each reader of the tally, without nulls; empty where it is not read
	largest []uint32         // an upper bound of the codes of each
	ids     arrow.Array      // nil where each row is a unit, or ids are not read

	left, hits, keep []uint64   // scratch: a bit per row
	out, outside     []uint64   // scratch, and the rows for which the table's predicate is not true, nil for none
	slots            []slot     // where the units of linked rows are held, once that is known; else empty
	days             []int64    // scratch
	wide             [][]uint32 // scratch: the codes of readers that are made of several columns
}

// load takes up the rows of a batch, of which x says what its columns are. Codes of readers that are made of several
// columns are made here, each of its row's own values.
func (c *chunk) load(b *source.Batch, readers []*encoding.Encoder, x *intake) {
	c.rows, c.ids = b.Rows, nil
	for i, r := range x.readers {
		if at := x.places[i]; len(at) == 1 {
			c.codes[r], c.largest[r] = codesOf(b.Columns[at[0]]), b.Largest[at[0]]
			continue
		}
		if readers[r].Column.Link != nil {
			c.codes[r] = tabulate.Codes{} // of other rows of the unit: relate
			continue
		}
		c.wide[r] = slices.Grow(c.wide[r][:0], b.Rows)[:b.Rows]
		readers[r].CodesOf(x.of(i, b.Columns), c.wide[r])
		c.codes[r], c.largest[r] = tabulate.Codes{Wide: c.wide[r]}, slices.Max(c.wide[r])
	}
	if x.ids >= 0 {
		c.ids = b.Columns[x.ids]
	}
}

// codesOf are the codes of a column of a batch.
func codesOf(a arrow.Array) tabulate.Codes {
	switch a := a.(type) {
	case *array.Uint8:
		return tabulate.Codes{Narrow: a.Uint8Values()}
	case *array.Uint16:
		return tabulate.Codes{Middle: a.Uint16Values()}
	}
	return tabulate.Codes{Wide: a.(*array.Uint32).Uint32Values()}
}

// marks sets the bits of rows whose code says that they are left out, and tells
// whether there are any, and any that break the contract.
func marks(c tabulate.Codes, first uint32, rows int, out []uint64) (some, wrong bool) {
	switch {
	case c.Narrow != nil:
		return marksOf(c.Narrow[:rows], uint8(first), out)
	case c.Middle != nil:
		return marksOf(c.Middle[:rows], uint16(first), out)
	}
	return marksOf(c.Wide[:rows], first, out)
}

func marksOf[T uint8 | uint16 | uint32](codes []T, first T, out []uint64) (some, wrong bool) {
	for i, c := range codes {
		switch {
		case c < first:
		case c == first:
			wrong = true
		default:
			out[i/64] |= 1 << (i % 64)
			some = true
		}
	}
	return some, wrong
}

// cleared is a bit per row, none of them set, in the memory of scratch.
func cleared(scratch *[]uint64, rows int) []uint64 {
	*scratch = slices.Grow((*scratch)[:0], (rows+63)/64)[:(rows+63)/64]
	clear(*scratch)
	return *scratch
}

// stay are the rows of a chunk that are counted: of those of kept, from row first on
// (nil: of all), those that are not left out. nil stands for all.
func (c *chunk) stay(k *bounding.Kept, piece int, first int64, out []uint64) []uint64 {
	if k == nil && out == nil {
		return nil
	}
	keep := cleared(&c.keep, c.rows)
	if k == nil {
		for i := range keep {
			keep[i] = ^out[i]
		}
		return keep
	}
	bits, shift := k.Of(piece), uint(first%64)
	at := int(first / 64)
	for i := range keep {
		if at+i < len(bits) {
			keep[i] = bits[at+i] >> shift
		}
		if shift > 0 && at+i+1 < len(bits) {
			keep[i] |= bits[at+i+1] << (64 - shift)
		}
		if out != nil { // bounding knew of them, unless the file was changed since, which is noticed in the end
			keep[i] &^= out[i]
		}
	}
	return keep
}

// ones is how many bits are set.
func ones(words []uint64) (n int64) {
	for _, word := range words {
		n += int64(bits.OnesCount64(word))
	}
	return n
}

// broken tells that a row that is not outside has the mark of one that breaks the contract.
func (c *chunk) broken(reader int, mark uint32) bool {
	for i := range c.rows {
		if c.outside[i/64]>>(i%64)&1 == 0 && codeAt(c.codes[reader], i) == mark {
			return true
		}
	}
	return false
}

// inside clears the bits of rows that are outside.
func (c *chunk) inside(rows []uint64) []uint64 {
	if c.outside == nil || rows == nil {
		return rows
	}
	in := make([]uint64, len(rows))
	for i := range in {
		in[i] = rows[i] &^ c.outside[i]
	}
	return in
}

// codeAt is the code of a row.
func codeAt(c tabulate.Codes, row int) uint32 {
	switch {
	case c.Narrow != nil:
		return uint32(c.Narrow[row])
	case c.Middle != nil:
		return uint32(c.Middle[row])
	}
	return c.Wide[row]
}

// slot says where a unit is held: 1 + its shard + linkShards·its place there; 0 for one that is not.
type slot uint64
