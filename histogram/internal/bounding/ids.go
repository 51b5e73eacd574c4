package bounding

// This file holds the ids of units, how they are read and distinguished exactly.

import (
	"encoding/binary"
	"hash/maphash"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/dprelease/dprelease/internal/noise"
)

// IDError says why the ids of a piece cannot be used, and what to do. It holds no id, row or count.
type IDError struct {
	Piece   int
	Message string
}

// Error returns a sentence without an id, a row or a count.
func (e *IDError) Error() string { return "the ids of units " + e.Message }

// Messages of [IDError].
const (
	idsInexact = ", which cannot identify units exactly; use text or integers"
	idsMixed   = "have another type here than in the files before; write them the same way in all files"
	idsMissing = "are missing in rows: a row of no unit is outside every bound"
)

// permutation is a keyed bijection of 64-bit words. It spreads units over partitions. Ids stay distinct because it is
// a bijection; nothing relies on its being hard to guess.
type permutation struct{ add, first, second uint64 } // first and second are odd

func newPermutation(stream *noise.Bits) permutation {
	return permutation{add: stream.Uint64(), first: stream.Uint64() | 1, second: stream.Uint64() | 1}
}

// apply composes bijections: adding, multiplying by an odd number, and x ⊕ ⌊x/2³²⌋, which is its own inverse.
func (p permutation) apply(id uint64) uint64 {
	x := (id + p.add) * p.first
	x ^= x >> 32
	return x * p.second
}

// invert returns the id whose word is x.
func (p permutation) invert(x uint64) uint64 {
	x *= inverseOf(p.second)
	x ^= x >> 32
	return x*inverseOf(p.first) - p.add
}

// inverseOf returns the inverse of an odd number modulo 2^64. Newton's iteration doubles the number of bits that are
// right, beginning with 3.
func inverseOf(odd uint64) uint64 {
	x := odd
	for range 5 {
		x *= 2 - odd*x
	}
	return x
}

// KindOf returns the type as which ids are compared, NULL if they cannot be compared.
func KindOf(ids arrow.Array) arrow.Type {
	switch t := ids.DataType().(type) {
	case *arrow.StringType, *arrow.DictionaryType:
		return arrow.STRING
	case *arrow.LargeStringType: // UUIDs
		return arrow.LARGE_STRING
	case *arrow.Int64Type:
		return arrow.INT64
	case *arrow.Date32Type:
		return arrow.DATE32
	case *arrow.Decimal128Type:
		if t.Scale == 0 {
			return arrow.DECIMAL128
		}
	}
	return arrow.NULL
}

// longHash returns the hash by which long ids are assigned to partitions. Its seed is the process's own. What is kept
// does not depend on it, because ids with equal hashes are compared byte by byte.
func longHash() func(id string) uint64 {
	seed := maphash.MakeSeed()
	return func(id string) uint64 { return maphash.String(seed, id) }
}

// Words returns ids as words that stand for them exactly, and false if they are longer. The words are valid until the
// next call with this scratch.
func Words(ids arrow.Array, scratch *[]int64) ([]int64, bool) {
	switch a := ids.(type) {
	case *array.Int64:
		return a.Int64Values(), true
	case *array.Date32:
		words := (*scratch)[:0]
		for _, day := range a.Date32Values() {
			words = append(words, int64(day))
		}
		*scratch = words
		return words, true
	}
	return nil, false
}

// Texts returns a function that reads ids as texts, which are distinct for distinct ids of one type.
func Texts(ids arrow.Array) func(row int) string {
	switch a := ids.(type) {
	case *array.String:
		return a.Value
	case *array.LargeString:
		return a.Value
	case *array.Dictionary:
		values := a.Dictionary().(*array.String)
		return func(row int) string { return values.Value(a.GetValueIndex(row)) }
	case *array.Decimal128:
		return func(row int) string {
			var id [16]byte
			binary.LittleEndian.PutUint64(id[:], uint64(a.Value(row).HighBits()))
			binary.LittleEndian.PutUint64(id[8:], a.Value(row).LowBits())
			return string(id[:])
		}
	}
	panic("bounding: ids of a type that KindOf refuses")
}
