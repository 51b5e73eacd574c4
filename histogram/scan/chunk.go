package scan

// This file holds the chunk: rows as they are read, in codes column by column, and what follows for each row from its
// own values alone.

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

// chunk is up to source.MaxRows rows of a piece. A goroutine reads all its rows through a single chunk.
type chunk struct {
	rows    int
	codes   []tabulate.Codes // by reader of the tally, without nulls; empty for a reader that is not read
	largest []uint32         // by reader, an upper bound of its codes
	ids     arrow.Array      // nil if each row is a unit or ids are not read

	left, hits, keep []uint64   // scratch: a bit per row
	out, outside     []uint64   // scratch, and the rows for which the table's predicate is not true, nil for none
	slots            []unitSlot // slots of the units of linked rows, once the link is filled; else empty
	days             []int64    // scratch
	wide             [][]uint32 // scratch: the codes of readers that are made of several columns
}

// loadBatch loads the rows of a batch, whose columns x describes. It makes the codes of readers that depend on
// several columns, each from its row's own values.
func (c *chunk) loadBatch(b *source.Batch, readers []*encoding.Encoder, x *passColumns) {
	c.rows, c.ids = b.Rows, nil
	for i, r := range x.readers {
		if at := x.sourceIndexes[i]; len(at) == 1 {
			c.codes[r], c.largest[r] = codesOf(b.Columns[at[0]]), b.Largest[at[0]]
			continue
		}
		if readers[r].Column.Link != nil {
			c.codes[r] = tabulate.Codes{} // from other rows of the unit: see loadLinked
			continue
		}
		c.wide[r] = slices.Grow(c.wide[r][:0], b.Rows)[:b.Rows]
		readers[r].CodesOf(x.inputsOf(i, b.Columns), c.wide[r])
		c.codes[r], c.largest[r] = tabulate.Codes{U32: c.wide[r]}, slices.Max(c.wide[r])
	}
	if x.ids >= 0 {
		c.ids = b.Columns[x.ids]
	}
}

// codesOf returns the codes of a column of a batch.
func codesOf(a arrow.Array) tabulate.Codes {
	switch a := a.(type) {
	case *array.Uint8:
		return tabulate.Codes{U8: a.Uint8Values()}
	case *array.Uint16:
		return tabulate.Codes{U16: a.Uint16Values()}
	}
	return tabulate.Codes{U32: a.(*array.Uint32).Uint32Values()}
}

// markLeftOut sets the bits of rows whose code marks them as left out. It reports whether there are any, and whether
// any row breaks the contract. first is the first mark.
func markLeftOut(c tabulate.Codes, first uint32, rows int, out []uint64) (some, wrong bool) {
	switch {
	case c.U8 != nil:
		return markLeftOutOf(c.U8[:rows], uint8(first), out)
	case c.U16 != nil:
		return markLeftOutOf(c.U16[:rows], uint16(first), out)
	}
	return markLeftOutOf(c.U32[:rows], first, out)
}

func markLeftOutOf[T uint8 | uint16 | uint32](codes []T, first T, out []uint64) (some, wrong bool) {
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

// clearedBits returns a bit per row, all of them 0, in the memory of scratch.
func clearedBits(scratch *[]uint64, rows int) []uint64 {
	*scratch = slices.Grow((*scratch)[:0], (rows+63)/64)[:(rows+63)/64]
	clear(*scratch)
	return *scratch
}

// retainedRows returns the rows of a chunk that are counted: the rows that k keeps, from row first on (all rows if k
// is nil), without the rows that are left out. A nil result stands for all rows.
func (c *chunk) retainedRows(k *bounding.KeptRows, piece int, first int64, out []uint64) []uint64 {
	if k == nil && out == nil {
		return nil
	}
	keep := clearedBits(&c.keep, c.rows)
	if k == nil {
		for i := range keep {
			keep[i] = ^out[i]
		}
		return keep
	}
	bits, shift := k.PieceBits(piece), uint(first%64)
	at := int(first / 64)
	for i := range keep {
		if at+i < len(bits) {
			keep[i] = bits[at+i] >> shift
		}
		if shift > 0 && at+i+1 < len(bits) {
			keep[i] |= bits[at+i+1] << (64 - shift)
		}
		if out != nil { // bounding left them out too, unless the file has changed since, which is detected at the end
			keep[i] &^= out[i]
		}
	}
	return keep
}

// countBits returns how many bits are set.
func countBits(words []uint64) (n int64) {
	for _, word := range words {
		n += int64(bits.OnesCount64(word))
	}
	return n
}

// hasBreach reports whether a row that is not outside has the mark of a breach of the contract.
func (c *chunk) hasBreach(reader int, mark uint32) bool {
	for i := range c.rows {
		if c.outside[i/64]>>(i%64)&1 == 0 && codeAt(c.codes[reader], i) == mark {
			return true
		}
	}
	return false
}

// withoutOutside clears the bits of rows that are outside.
func (c *chunk) withoutOutside(rows []uint64) []uint64 {
	if c.outside == nil || rows == nil {
		return rows
	}
	in := make([]uint64, len(rows))
	for i := range in {
		in[i] = rows[i] &^ c.outside[i]
	}
	return in
}

// codeAt returns the code of a row.
func codeAt(c tabulate.Codes, row int) uint32 {
	switch {
	case c.U8 != nil:
		return uint32(c.U8[row])
	case c.U16 != nil:
		return uint32(c.U16[row])
	}
	return c.U32[row]
}

// unitSlot says where a link holds a unit: 1 + shard + linkShards·index in the shard; 0 if it does not hold the unit.
type unitSlot uint64
