package bounding

// This file holds the ids of units, how they are read and distinguished exactly, and the draws that are made from
// them.

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"hash/maphash"
	"math/bits"

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

// drawKeys returns the keys of the draws and of the HMACs of long ids: the next words of a stream.
func drawKeys(stream *noise.Bits) (key, macKey []byte) {
	var keys []byte
	for range 8 {
		keys = binary.LittleEndian.AppendUint64(keys, stream.Uint64())
	}
	return keys[:32], keys[32:]
}

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

// unitName is the id of one unit as draws and comparisons need it: a word that stands for the id exactly or, for long
// ids, a hash of the id and its bytes.
type unitName struct {
	word uint64
	long []byte // nil for ids of 64 bits
}

// drawSeed is a block of 128 bits from which the draws of one unit are made.
type drawSeed [2]uint64

// Purposes of a seed. Different purposes share no draws.
const (
	forRows byte = iota
	forGroups
	forGroup
)

// drawSeeds maps unit names to seeds: names of 64 bits to themselves, others to 128 bits of HMAC-SHA256 under a key
// of the table's own stream. It must not be used concurrently.
type drawSeeds struct {
	mac    hash.Hash
	buffer []byte
	digest []byte
}

func newDrawSeeds(key []byte) *drawSeeds { return &drawSeeds{mac: hmac.New(sha256.New, key)} }

// seedOfRows returns the seed of the draws among the rows of a unit. Two long ids with equal HMACs would share their
// draws: each unit would still be bounded, by a sample that is uniform on its own.
func (s *drawSeeds) seedOfRows(n unitName) drawSeed {
	if n.long == nil {
		return drawSeed{n.word, 0}
	}
	return s.seedOf(forRows, n, 0)
}

// seedOf returns the seed of a unit for a purpose and a group of its rows. Purpose and group have a fixed length, so
// that no two inputs read the same.
func (s *drawSeeds) seedOf(purpose byte, n unitName, group uint64) drawSeed {
	s.buffer = append(s.buffer[:0], purpose)
	s.buffer = binary.LittleEndian.AppendUint64(s.buffer, group)
	if n.long == nil {
		s.buffer = binary.LittleEndian.AppendUint64(s.buffer, n.word)
	} else {
		s.buffer = append(s.buffer, n.long...)
	}
	s.mac.Reset()
	s.mac.Write(s.buffer)
	s.digest = s.mac.Sum(s.digest[:0])
	return drawSeed{binary.LittleEndian.Uint64(s.digest), binary.LittleEndian.Uint64(s.digest[8:])}
}

// draws is a stream of uniform words for each seed: AES-256 in counter mode under a key of the table's own stream,
// counted from the seed. It must not be used concurrently.
type draws struct {
	block   cipher.Block
	seeds   *drawSeeds
	from    drawSeed
	next    uint64 // number of the next word
	in, out [aes.BlockSize]byte
}

// restart goes to the first word of a seed.
func (d *draws) restart(from drawSeed) { d.from, d.next = from, 0 }

// nextWord returns the next word of the seed: word i is a half of block ⌊i/2⌋.
func (d *draws) nextWord() uint64 {
	half := d.next & 1 * 8
	if half == 0 {
		binary.LittleEndian.PutUint64(d.in[:], d.from[0])
		binary.LittleEndian.PutUint64(d.in[8:], d.from[1]^(d.next>>1))
		d.block.Encrypt(d.out[:], d.in[:])
	}
	d.next++
	return binary.LittleEndian.Uint64(d.out[half:])
}

// drawBelow returns a number that is uniform in [0, n), exactly (rejection after Lemire 2019), and a function of key,
// seed and the earlier draws of the seed.
func (d *draws) drawBelow(n uint64) uint64 {
	for {
		high, low := bits.Mul64(d.nextWord(), n)
		if low >= n || low >= -n%n {
			return high
		}
	}
}

// chooseBits sets, in chosen, the bits of a uniform choice of most of n, most < n (Floyd's algorithm, Bentley and
// Floyd 1987): if a draw from the first i + 1 is already taken, then number i is not. chosen must have no bit set.
// The choice is a function of key, seed, n and most.
func (d *draws) chooseBits(from drawSeed, n, most uint64, chosen []uint64) {
	d.restart(from)
	for i := n - most; i < n; i++ {
		t := d.drawBelow(i + 1)
		taken := chosen[t>>6] >> (t & 63) & 1
		t += (i - t) * taken // i if t is taken, without an unpredictable branch
		chosen[t>>6] |= 1 << (t & 63)
	}
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
