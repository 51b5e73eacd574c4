package bounding

// This file holds the sample: which units are measured in a release that draws some of them in secret, and which of
// them one of several machines counts.

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"math/big"
	"math/bits"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/dprelease/dprelease/internal/noise"
)

// Sample draws units. Each is drawn with the probability of the spec, rounded down to a multiple of 2^−64.
//
// Guarantee: under a key that is fresh for the release, secret and erased, every unit is in the sample independently
// of all others and of everything that is in the table: whether it is, is a function of the key and of its id or,
// where each row is a unit, of the row's place among all rows that are read (AES-256, and HMAC-SHA256 of long ids, as
// pseudo-random functions). Neither workers nor memory change it. Theorem: Balle, Barthe & Gaboardi 2018, theorem 8.
// Argument: docs/proofs/sampling.md.
type Sample struct {
	from, count uint64 // units are drawn whose word is one of so many, from the first on
	key         []byte
	macKey      []byte
	idless      bool // rows without an id are drawn by their places; else all of them are
}

// NewSample returns a sample that draws a share of the units. Its keys are the next words of a stream.
func NewSample(share *big.Rat, stream *noise.Bits) *Sample {
	return newSample(0, Threshold(share), stream)
}

// NewShard returns the sample of the units that one of several machines counts: number number, from 1, of 2 or more.
// Its keys are the next words of a stream.
//
// Guarantee: under the same keys each unit, each row that is a unit, and each row without an id is in exactly one of
// the shards.
func NewShard(number, of int, stream *noise.Bits) *Sample {
	from := boundary(number-1, of)
	s := newSample(from, boundary(number, of)-from, stream)
	s.idless = true
	return s
}

// boundary returns ⌊2^64·i/n⌋ modulo 2^64, for 0 ≤ i ≤ n.
func boundary(i, n int) uint64 {
	if i == n {
		return 0
	}
	b, _ := bits.Div64(uint64(i), 0, uint64(n))
	return b
}

func newSample(from, count uint64, stream *noise.Bits) *Sample {
	var keys []byte
	for range 8 {
		keys = binary.LittleEndian.AppendUint64(keys, stream.Uint64())
	}
	return &Sample{from: from, count: count, key: keys[:32], macKey: keys[32:]}
}

// Threshold returns the number below which a uniform word of 64 bits lies with the probability share, rounded down.
func Threshold(share *big.Rat) uint64 {
	scaled := new(big.Int).Lsh(share.Num(), 64)
	return scaled.Quo(scaled, share.Denom()).Uint64()
}

// Sampler draws for one goroutine.
type Sampler struct {
	*Sample
	block   cipher.Block
	mac     hash.Hash
	digest  []byte
	in, cut [aes.BlockSize]byte
	out     []uint64
	days    []int64
}

// Sampler returns a sampler for one more goroutine.
func (s *Sample) Sampler() (*Sampler, error) {
	block, err := aes.NewCipher(s.key)
	if err != nil {
		return nil, err
	}
	return &Sampler{Sample: s, block: block, mac: hmac.New(sha256.New, s.macKey)}, nil
}

// isDrawn reports whether the unit of a block is in the sample.
func (s *Sampler) isDrawn(first, second uint64) bool {
	binary.LittleEndian.PutUint64(s.in[:], first)
	binary.LittleEndian.PutUint64(s.in[8:], second)
	s.block.Encrypt(s.cut[:], s.in[:])
	return binary.LittleEndian.Uint64(s.cut[:])-s.from < s.count
}

// Mask adds the rows whose unit is not in the sample to the rows that are left out. Units are drawn by their ids or,
// if ids is nil, by their places. The result is valid until the next call. Rows without an id, and ids of a type that
// cannot distinguish units, which bounding refuses, are unchanged in a sample, and drawn by their places for a shard.
func (s *Sampler) Mask(ids arrow.Array, rows, piece int, first int64, out []uint64) []uint64 {
	s.out = resize(s.out, (rows+63)/64)
	left := s.out
	clear(left)
	copy(left, out)
	drawn := s.drawnByPlace(piece, first)
	switch {
	case ids == nil:
	case KindOf(ids) != arrow.NULL:
		drawn = s.drawnByID(ids, drawn)
	case !s.idless:
		return left
	}
	for i := range rows {
		if !drawn(i) {
			left[i>>6] |= 1 << (i & 63)
		}
	}
	return left
}

// drawnByPlace returns a function that reports whether a row is drawn that is a unit by itself.
func (s *Sampler) drawnByPlace(piece int, first int64) func(row int) bool {
	return func(row int) bool { return s.isDrawn(uint64(piece)<<rowBits|uint64(first+int64(row)), 0) }
}

// drawnByID returns a function that reports whether the unit of a row is drawn. A row without an id is, or is if
// byPlace says so. The blocks of 64-bit ids are the ids, those of others 128 bits of HMAC-SHA256.
func (s *Sampler) drawnByID(ids arrow.Array, byPlace func(row int) bool) func(row int) bool {
	idless := func(row int) bool { return !s.idless || byPlace(row) }
	if words, exact := Words(ids, &s.days); exact {
		return func(row int) bool {
			if ids.IsNull(row) {
				return idless(row)
			}
			return s.isDrawn(uint64(words[row]), 0)
		}
	}
	value := Texts(ids)
	return func(row int) bool {
		if ids.IsNull(row) {
			return idless(row)
		}
		s.mac.Reset()
		s.mac.Write(macPrefix[:])
		s.mac.Write([]byte(value(row)))
		s.digest = s.mac.Sum(s.digest[:0])
		return s.isDrawn(binary.LittleEndian.Uint64(s.digest), binary.LittleEndian.Uint64(s.digest[8:]))
	}
}

// macPrefix stands before the long ids that are hashed.
var macPrefix [9]byte
