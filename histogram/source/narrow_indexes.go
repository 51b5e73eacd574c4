package source

// This file holds the narrow indexes: indexes into a dictionary that fit into a byte each and are looked up without
// checking bounds.

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/parquet-go/parquet-go/encoding/rle"
)

// narrowIndexes is a page of indexes of one byte each, and the codes of its dictionary.
type narrowIndexes[T uint8 | uint16 | uint32] struct {
	index []uint8 // the page
	short bool    // all of them are below shortIndexes
	codes [256]T  // by entry; none after the last entry
	whole bool    // the dictionary has 256 entries
	none  T       // if not whole, a code that no entry has

	// pairs has the codes of two short indexes i and j at i|j<<8.
	pairs [shortPairs][2]T
}

// Indexes of four bits are looked up two at a time.
const (
	shortIndexes = 1 << 4
	shortPairs   = shortIndexes << 8
)

// setDictionary sets the codes of the dictionary's entries.
func (x *narrowIndexes[T]) setDictionary(entries []T) {
	n := copy(x.codes[:], entries)
	x.none, x.whole = 0, n == len(x.codes)
	for !x.whole && slices.Contains(entries, x.none) {
		x.none++
	}
	for i := range x.codes[n:] {
		x.codes[n+i] = x.none
	}
	for i := range shortIndexes {
		for j := range shortIndexes {
			x.pairs[i|j<<8] = [2]T{x.codes[i], x.codes[j]}
		}
	}
}

// setPage sets the page to n indexes, encoded in runs of the given bit width that hold at least n, and reports
// whether it can. It cannot if the indexes are wider than a byte, or if the runs are not followed by memory that
// their decoder may read.
func (x *narrowIndexes[T]) setPage(runs []byte, width, n int) bool {
	if width < 1 || width > 8 || cap(runs)-len(runs) < 8 {
		return false
	}
	// The result lies in the memory of x.index, but may have a smaller capacity.
	x.index = slices.Grow(x.index[:0], n+mostFill+1)
	index, err := (&rle.Encoding{BitWidth: width}).DecodeLevels(x.index, runs)
	if err != nil || len(index) < n {
		return false
	}
	x.index, x.short = index[:n], 1<<width <= shortIndexes
	return true
}

// lookUp fills out with the codes of the page's indexes, beginning at from. It panics if an index lies outside the
// dictionary.
func (x *narrowIndexes[T]) lookUp(out []T, from int) {
	to, index := out, x.index[from:from+len(out)]
	for x.short && len(index) >= 16 && len(to) >= 16 {
		to16, at := (*[16]T)(to), (*[16]uint8)(index)
		*(*[2]T)(to16[0:]) = x.pairs[binary.LittleEndian.Uint16(at[0:])%shortPairs]
		*(*[2]T)(to16[2:]) = x.pairs[binary.LittleEndian.Uint16(at[2:])%shortPairs]
		*(*[2]T)(to16[4:]) = x.pairs[binary.LittleEndian.Uint16(at[4:])%shortPairs]
		*(*[2]T)(to16[6:]) = x.pairs[binary.LittleEndian.Uint16(at[6:])%shortPairs]
		*(*[2]T)(to16[8:]) = x.pairs[binary.LittleEndian.Uint16(at[8:])%shortPairs]
		*(*[2]T)(to16[10:]) = x.pairs[binary.LittleEndian.Uint16(at[10:])%shortPairs]
		*(*[2]T)(to16[12:]) = x.pairs[binary.LittleEndian.Uint16(at[12:])%shortPairs]
		*(*[2]T)(to16[14:]) = x.pairs[binary.LittleEndian.Uint16(at[14:])%shortPairs]
		index, to = index[16:], to[16:]
	}
	for len(index) >= 16 && len(to) >= 16 {
		to16, at := (*[16]T)(to), (*[16]uint8)(index)
		to16[0], to16[1], to16[2], to16[3] = x.codes[at[0]], x.codes[at[1]], x.codes[at[2]], x.codes[at[3]]
		to16[4], to16[5], to16[6], to16[7] = x.codes[at[4]], x.codes[at[5]], x.codes[at[6]], x.codes[at[7]]
		to16[8], to16[9], to16[10], to16[11] = x.codes[at[8]], x.codes[at[9]], x.codes[at[10]], x.codes[at[11]]
		to16[12], to16[13], to16[14], to16[15] = x.codes[at[12]], x.codes[at[13]], x.codes[at[14]], x.codes[at[15]]
		index, to = index[16:], to[16:]
	}
	for i, at := range index {
		to[i] = x.codes[at]
	}
	if !x.whole && containsCode(out, x.none) {
		panic("an index lies outside the dictionary")
	}
}

// containsCode reports whether codes contains a code.
func containsCode[T uint8 | uint16 | uint32](codes []T, code T) bool {
	if bytewise, ok := any(codes).([]uint8); ok {
		return bytes.IndexByte(bytewise, uint8(code)) >= 0
	}
	return slices.Contains(codes, code)
}

// mostFill is how many surplus values a last bit-packed run may hold: writers fill it up to 8, 32, 256 or 504 values.
const mostFill = 511
