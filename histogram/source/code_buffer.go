package source

// This file holds the code buffer: the codes of one column in their least width,
// filled through tables.

import (
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// codeBuffer collects the codes of a column, a batch at a time. It holds two
// tables of codes: of the entries of a dictionary, and of the values of a page.
type codeBuffer interface {
	// start begins a batch of at most `most` rows.
	start(most int)
	// dictionary and page fill the tables.
	dictionary(values arrow.Array)
	page(values arrow.Array)
	// packed makes the page that of n indexes into the dictionary, which stand in runs of so many bits that hold as many,
	// or says that it does not. To take one that lies outside panics.
	packed(runs []byte, width, n int) bool
	// indexes makes the page that of indexes into the dictionary. To take one that lies outside panics.
	indexes(index []int32)
	// take appends the codes from..to of the page.
	take(from, to int)
	// takeSome appends a code for each level: that of null, or that of the next
	// value of the page from `from` on.
	takeSome(from int, levels []byte)
	// repeat appends n times the code of the first value of the page.
	repeat(n int)
	// each appends codes as they are.
	each(codes []uint32)
	// array is the codes of the batch, valid until the next start.
	array() arrow.Array
	// largest is an upper bound of them.
	largest() uint32
}

func newCodeBuffer(c Coder) codeBuffer {
	switch c.Width() {
	case 1:
		return newCodes[uint8](c, arrow.PrimitiveTypes.Uint8)
	case 2:
		return newCodes[uint16](c, arrow.PrimitiveTypes.Uint16)
	}
	return newCodes[uint32](c, arrow.PrimitiveTypes.Uint32)
}

// manyTexts is how many texts are worth a memo.
const manyTexts = 512

// pageKind says what a page of a code buffer is of.
type pageKind uint8

const (
	ofValues pageKind = iota
	ofNarrowIndexes
	ofIndexes
)

// codes is a code buffer of one width.
type codes[T uint8 | uint16 | uint32] struct {
	coder Coder
	of    arrow.DataType
	null  T

	out  []T // as long as a full batch
	n    int // codes in it
	most uint32
	made [2]arrow.Array // over the beginning of out: all of it, and as much as the last short batch

	entries, values []T // the tables
	narrow          narrowIndexes[T]
	index           []int32
	kind            pageKind
	dense           []T    // the codes of rows that are not null, before nulls are put between
	topEntry, top   uint32 // the largest code of the dictionary, and of the page
	wide            []uint32
	memo            *memo // of the texts of pages
}

func newCodes[T uint8 | uint16 | uint32](c Coder, of arrow.DataType) *codes[T] {
	b := array.NewStringBuilder(memory.DefaultAllocator)
	defer b.Release()
	b.AppendNull()
	null := b.NewArray()
	defer null.Release()
	code := []uint32{0}
	c.Codes(null, code)
	return &codes[T]{coder: c, of: of, null: T(code[0])}
}

func (c *codes[T]) start(most int) {
	if len(c.out) != most {
		c.out, c.made = slices.Grow(c.out[:0], most)[:most], [2]arrow.Array{}
	}
	c.n, c.most = 0, 0
}

func (c *codes[T]) dictionary(values arrow.Array) {
	c.entries, c.topEntry = c.encode(values, c.entries)
	c.narrow.dictionary(c.entries)
}

func (c *codes[T]) page(values arrow.Array) {
	c.kind = ofValues
	text, ok := values.(*array.String)
	if !ok || values.Len() < manyTexts {
		c.values, c.top = c.encode(values, c.values)
		return
	}
	if c.memo == nil {
		c.memo = newMemo(c.coder, func([]byte) bool { return false })
	}
	c.wide = slices.Grow(c.wide[:0], text.Len())[:text.Len()]
	c.memo.codes(text, c.wide, uint32(c.null))
	c.values, c.top = narrow(c.wide, c.values)
}

func (c *codes[T]) packed(runs []byte, width, n int) bool {
	if !c.narrow.page(runs, width, n) {
		return false
	}
	c.kind, c.top = ofNarrowIndexes, c.topEntry
	return true
}

func (c *codes[T]) indexes(index []int32) { c.index, c.kind, c.top = index, ofIndexes, c.topEntry }

// encode returns the codes of values, in the memory of old, and the largest.
func (c *codes[T]) encode(values arrow.Array, old []T) ([]T, uint32) {
	n := values.Len()
	c.wide = slices.Grow(c.wide[:0], n)[:n]
	c.coder.Codes(values, c.wide)
	return narrow(c.wide, old)
}

// narrow returns codes in their least width, in the memory of old, and the largest.
func narrow[T uint8 | uint16 | uint32](wide []uint32, old []T) ([]T, uint32) {
	codes, top := slices.Grow(old[:0], len(wide))[:len(wide)], uint32(0)
	for i, code := range wide {
		codes[i] = T(code)
		top = max(top, code)
	}
	return codes, top
}

// next returns the place for n more codes of which none is above top.
func (c *codes[T]) next(n int, top uint32) []T {
	out := c.out[c.n : c.n+n]
	c.n += n
	c.most = max(c.most, top)
	return out
}

// lookUp writes the entry of each index to out, of the same length: eight at a time,
// so that only the entries' bounds are left to check for each.
func lookUp[T uint8 | uint16 | uint32](out, entries []T, index []int32) {
	for len(index) >= 8 && len(out) >= 8 {
		to, from := (*[8]T)(out), (*[8]int32)(index)
		to[0], to[1], to[2], to[3] = entries[from[0]], entries[from[1]], entries[from[2]], entries[from[3]]
		to[4], to[5], to[6], to[7] = entries[from[4]], entries[from[5]], entries[from[6]], entries[from[7]]
		index, out = index[8:], out[8:]
	}
	for i, at := range index {
		out[i] = entries[at]
	}
}

// read writes the codes of the page from a place on to out.
func (c *codes[T]) read(out []T, from int) {
	switch c.kind {
	case ofValues:
		copy(out, c.values[from:from+len(out)])
	case ofNarrowIndexes:
		c.narrow.lookUp(out, from)
	case ofIndexes:
		lookUp(out, c.entries, c.index[from:from+len(out)])
	}
}

func (c *codes[T]) take(from, to int) { c.read(c.next(to-from, c.top), from) }

func (c *codes[T]) takeSome(from int, levels []byte) {
	n := present(levels)
	c.dense = slices.Grow(c.dense[:0], n)[:n]
	c.read(c.dense, from)
	spread(c.next(len(levels), max(c.top, uint32(c.null))), c.dense, levels, c.null)
}

func (c *codes[T]) repeat(n int) {
	for i, out := 0, c.next(n, c.top); i < n; i++ {
		out[i] = c.values[0]
	}
}

func (c *codes[T]) each(codes []uint32) {
	out, top := c.next(len(codes), 0), c.most
	for i, code := range codes {
		out[i] = T(code)
		top = max(top, code)
	}
	c.most = top
}

func (c *codes[T]) array() arrow.Array {
	kept := &c.made[0]
	if c.n < len(c.out) {
		kept = &c.made[1]
	}
	if *kept == nil || (*kept).Len() != c.n {
		*kept = wrap(c.of, c.n, arrow.GetBytes(c.out[:c.n]))
	}
	return *kept
}

func (c *codes[T]) largest() uint32 { return c.most }
