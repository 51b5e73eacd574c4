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
	"github.com/dprelease/dprelease/spec"
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

// judge says which rows are left out, a bit per row and nil where none is, and
// whether some row breaks the contract. Only columns that were read are looked at, and of
// the entries of `impossible` those that drop rows, or with whole all. What is returned
// is valid until the next call.
//
// A row is left out where the table's predicate is not true of it (outside), and then nothing else is asked of it;
// where a column's policy says so, of those that measurements need, where it meets an entry of `impossible` that drops
// rows (ruleOut), where its id is null and the table's unit says so (withoutID), or where it belongs to a parent row
// and there is none (orphans).
//
// Guarantee: whether a row is left out depends on its own values alone and, with a parent, on whether its
// unit has a row there that is counted, so that two
// tables that differ in one unit differ in that unit's rows alone once rows are left
// out. Neighbours: both relations. Argument: docs/proofs/impossible.md, docs/proofs/linked.md.
func (t *tally) judge(c *chunk, whole bool) (out []uint64, bad bool) {
	left, marked := cleared(&c.left, c.rows), false
	outside := t.outside(c)
	copy(left, outside)
	for i, e := range t.readers {
		if c.codes[i].Len() == 0 || c.largest[i] < e.Marks {
			continue
		}
		into := left
		if i >= len(t.encoders) { // expected to be complete, and nothing else
			into = cleared(&c.hits, c.rows)
		}
		some, wrong := marks(c.codes[i], e.Marks, c.rows, into)
		wrong = wrong && (outside == nil || c.broken(i, e.Marks))
		marked = marked || some && i < len(t.encoders)
		bad = bad || wrong
	}
	ruled, wrong := t.ruleOut(c, left, whole)
	idless, missing := t.withoutID(c, left)
	orphaned := t.orphans(c, left)
	if marked || ruled || idless || orphaned {
		out = left
	}
	return out, bad || wrong || missing
}

// withoutID sets the bits of rows whose unit is not said, where the table leaves them out,
// and tells whether there are any; else it tells whether such rows break the contract.
//
// It comes behind the entries of `impossible`, which the second reading judges without
// ids: what breaks the contract is the same in both.
func (t *tally) withoutID(c *chunk, left []uint64) (some, wrong bool) {
	if c.ids == nil || c.ids.NullN() == 0 {
		return false, false
	}
	for i := range c.rows {
		switch {
		case !c.ids.IsNull(i) || c.outside != nil && c.outside[i/64]>>(i%64)&1 == 1:
		case t.table.Unit.Null != spec.Drop:
			return some, true
		default:
			left[i/64] |= 1 << (i % 64)
			some = true
		}
	}
	return some, false
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
