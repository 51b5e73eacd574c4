package source

// This file holds the code buffer: the codes of one column in their smallest width, filled through tables.

import (
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// codeBuffer collects the codes of a column, a batch at a time. It has two tables of codes: one for the entries of a
// dictionary and one for the values of a page.
type codeBuffer interface {
	// start begins a batch of at most `most` rows.
	startBatch(most int)
	// setDictionary and setPage fill the tables.
	setDictionary(values arrow.Array)
	setPage(values arrow.Array)
	// setPackedPage makes the page n indexes into the dictionary, encoded in runs of the given bit width that hold at
	// least n, and reports whether it can. Appending an index outside the dictionary panics.
	setPackedPage(runs []byte, width, n int) bool
	// setIndexPage makes the page indexes into the dictionary. Appending an index outside the dictionary panics.
	setIndexPage(index []int32)
	// appendRange appends the codes from..to of the page.
	appendRange(from, to int)
	// appendLevels appends a code for each level: the next value of the page, beginning at from, if the level is 1, and
	// the code of null if it is 0.
	appendLevels(from int, levels []byte)
	// repeatFirst appends the code of the first value of the page n times.
	repeatFirst(n int)
	// appendCodes appends codes as they are.
	appendCodes(codes []uint32)
	// array returns the codes of the batch. It is valid until the next startBatch.
	array() arrow.Array
	// largest returns an upper bound of the codes of the batch.
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

// manyTexts is the number of texts in a page from which a memo pays.
const manyTexts = 512

// pageKind is the content of the page of a code buffer.
type pageKind uint8

const (
	ofValues pageKind = iota
	ofNarrowIndexes
	ofIndexes
)

// typedCodeBuffer is a code buffer of one width.
type typedCodeBuffer[T uint8 | uint16 | uint32] struct {
	coder    Coder
	dataType arrow.DataType
	null     T

	out     []T // as long as a full batch
	n       int // number of codes in out
	maxCode uint32
	arrays  [2]arrow.Array // arrays over a full out and over the last short batch

	entries, values        []T // codes of the dictionary's entries and of the page's values
	narrow                 narrowIndexes[T]
	index                  []int32
	kind                   pageKind
	dense                  []T    // the codes of rows that are not null, before nulls are inserted
	dictionaryMax, pageMax uint32 // the largest code of the dictionary, and of the page
	wide                   []uint32
	memo                   *memo // codes of the texts of pages
}

func newCodes[T uint8 | uint16 | uint32](c Coder, of arrow.DataType) *typedCodeBuffer[T] {
	b := array.NewStringBuilder(memory.DefaultAllocator)
	defer b.Release()
	b.AppendNull()
	null := b.NewArray()
	defer null.Release()
	code := []uint32{0}
	c.Codes(null, code)
	return &typedCodeBuffer[T]{coder: c, dataType: of, null: T(code[0])}
}

func (c *typedCodeBuffer[T]) startBatch(most int) {
	if len(c.out) != most {
		c.out, c.arrays = slices.Grow(c.out[:0], most)[:most], [2]arrow.Array{}
	}
	c.n, c.maxCode = 0, 0
}

func (c *typedCodeBuffer[T]) setDictionary(values arrow.Array) {
	c.entries, c.dictionaryMax = c.encode(values, c.entries)
	c.narrow.setDictionary(c.entries)
}

func (c *typedCodeBuffer[T]) setPage(values arrow.Array) {
	c.kind = ofValues
	text, ok := values.(*array.String)
	if !ok || values.Len() < manyTexts {
		c.values, c.pageMax = c.encode(values, c.values)
		return
	}
	if c.memo == nil {
		c.memo = newMemo(c.coder, func([]byte) bool { return false })
	}
	c.wide = slices.Grow(c.wide[:0], text.Len())[:text.Len()]
	c.memo.codesOf(text, c.wide, uint32(c.null))
	c.values, c.pageMax = narrowCodes(c.wide, c.values)
}

func (c *typedCodeBuffer[T]) setPackedPage(runs []byte, width, n int) bool {
	if !c.narrow.setPage(runs, width, n) {
		return false
	}
	c.kind, c.pageMax = ofNarrowIndexes, c.dictionaryMax
	return true
}

func (c *typedCodeBuffer[T]) setIndexPage(index []int32) {
	c.index, c.kind, c.pageMax = index, ofIndexes, c.dictionaryMax
}

// encode returns the codes of values and the largest of them. The codes reuse the memory of old.
func (c *typedCodeBuffer[T]) encode(values arrow.Array, old []T) ([]T, uint32) {
	n := values.Len()
	c.wide = slices.Grow(c.wide[:0], n)[:n]
	c.coder.Codes(values, c.wide)
	return narrowCodes(c.wide, old)
}

// narrowCodes returns codes in a narrower type and the largest of them. The codes reuse the memory of old.
func narrowCodes[T uint8 | uint16 | uint32](wide []uint32, old []T) ([]T, uint32) {
	codes, top := slices.Grow(old[:0], len(wide))[:len(wide)], uint32(0)
	for i, code := range wide {
		codes[i] = T(code)
		top = max(top, code)
	}
	return codes, top
}

// nextSlots returns the memory for n more codes, none of which is above top.
func (c *typedCodeBuffer[T]) nextSlots(n int, top uint32) []T {
	out := c.out[c.n : c.n+n]
	c.n += n
	c.maxCode = max(c.maxCode, top)
	return out
}

// lookUp writes the entry of each index to out, of the same length. It handles eight indexes at a time, so that only
// the bounds of entries are left to check for each index.
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

// copyPage fills out with the codes of the page, beginning at from.
func (c *typedCodeBuffer[T]) copyPage(out []T, from int) {
	switch c.kind {
	case ofValues:
		copy(out, c.values[from:from+len(out)])
	case ofNarrowIndexes:
		c.narrow.lookUp(out, from)
	case ofIndexes:
		lookUp(out, c.entries, c.index[from:from+len(out)])
	}
}

func (c *typedCodeBuffer[T]) appendRange(from, to int) {
	c.copyPage(c.nextSlots(to-from, c.pageMax), from)
}

func (c *typedCodeBuffer[T]) appendLevels(from int, levels []byte) {
	n := countPresent(levels)
	c.dense = slices.Grow(c.dense[:0], n)[:n]
	c.copyPage(c.dense, from)
	spreadLevels(c.nextSlots(len(levels), max(c.pageMax, uint32(c.null))), c.dense, levels, c.null)
}

func (c *typedCodeBuffer[T]) repeatFirst(n int) {
	for i, out := 0, c.nextSlots(n, c.pageMax); i < n; i++ {
		out[i] = c.values[0]
	}
}

func (c *typedCodeBuffer[T]) appendCodes(codes []uint32) {
	out, top := c.nextSlots(len(codes), 0), c.maxCode
	for i, code := range codes {
		out[i] = T(code)
		top = max(top, code)
	}
	c.maxCode = top
}

func (c *typedCodeBuffer[T]) array() arrow.Array {
	kept := &c.arrays[0]
	if c.n < len(c.out) {
		kept = &c.arrays[1]
	}
	if *kept == nil || (*kept).Len() != c.n {
		*kept = wrapBuffers(c.dataType, c.n, arrow.GetBytes(c.out[:c.n]))
	}
	return *kept
}

func (c *typedCodeBuffer[T]) largest() uint32 { return c.maxCode }
