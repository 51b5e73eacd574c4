package bounding

// This file holds the sample: which units are measured in a release that draws some of them in secret.

import (
	"crypto/aes"
	"math/big"

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
	below  uint64 // units whose word is below it are drawn
	key    []byte
	macKey []byte
}

// NewSample returns a sample that draws a share of the units.
func NewSample(share *big.Rat, stream *noise.Bits) *Sample {
	s := &Sample{below: Threshold(share)}
	s.key, s.macKey = drawKeys(stream)
	return s
}

// Threshold returns the number below which a uniform word of 64 bits lies with the probability share, rounded down.
func Threshold(share *big.Rat) uint64 {
	scaled := new(big.Int).Lsh(share.Num(), 64)
	return scaled.Quo(scaled, share.Denom()).Uint64()
}

// Sampler draws for one goroutine.
type Sampler struct {
	*Sample
	draws draws
	out   []uint64
	days  []int64
}

// Sampler returns a sampler for one more goroutine.
func (s *Sample) Sampler() (*Sampler, error) {
	block, err := aes.NewCipher(s.key)
	if err != nil {
		return nil, err
	}
	return &Sampler{Sample: s, draws: draws{block: block, seeds: newDrawSeeds(s.macKey)}}, nil
}

// isDrawn reports whether the unit of a seed is in the sample.
func (s *Sampler) isDrawn(from drawSeed) bool {
	s.draws.restart(from)
	return s.draws.nextWord() < s.below
}

// Mask adds the rows whose unit is not in the sample to the rows that are left out. Units are drawn by their ids or,
// if ids is nil, by their places. The result is valid until the next call. Rows without an id, and ids of a type that
// cannot distinguish units, are unchanged: bounding refuses them.
func (s *Sampler) Mask(ids arrow.Array, rows, piece int, first int64, out []uint64) []uint64 {
	s.out = resize(s.out, (rows+63)/64)
	left := s.out
	clear(left)
	copy(left, out)
	leave := func(i int) { left[i>>6] |= 1 << (i & 63) }
	if ids == nil {
		for i := range rows {
			if !s.isDrawn(drawSeed{uint64(piece)<<rowBits | uint64(first+int64(i)), 0}) {
				leave(i)
			}
		}
		return left
	}
	if KindOf(ids) == arrow.NULL {
		return left
	}
	name := s.namesOf(ids)
	for i := range rows {
		if !ids.IsNull(i) && !s.isDrawn(s.draws.seeds.seedOfRows(name(i))) {
			leave(i)
		}
	}
	return left
}

// namesOf returns a function that returns the unit name of a row.
func (s *Sampler) namesOf(ids arrow.Array) func(row int) unitName {
	if words, exact := Words(ids, &s.days); exact {
		return func(row int) unitName { return unitName{word: uint64(words[row])} }
	}
	value := Texts(ids)
	return func(row int) unitName { return unitName{long: []byte(value(row))} }
}
