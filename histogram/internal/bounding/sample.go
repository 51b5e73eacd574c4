package bounding

// This file holds the sample: which units are measured where a release draws some of them in secret.

import (
	"crypto/aes"
	"math/big"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/dprelease/dprelease/internal/noise"
)

// Sample draws units: each is in it with the probability of the spec, rounded down to a multiple of 2^−64.
//
// Guarantee: under a key that is fresh for the release, secret and erased, every unit is in the sample independently of
// all others and of everything that is in the table: whether it is, is a function of the key and of its id or, where
// each row is a unit, of the row's place among all rows that are read (AES-256, and HMAC-SHA256 of long ids, as
// pseudo-random functions). Neither workers nor memory change it. Theorem: Balle, Barthe & Gaboardi 2018, theorem 8.
// Argument: docs/proofs/sampling.md.
type Sample struct {
	below  uint64 // words below it are drawn
	key    []byte
	macKey []byte
}

// NewSample returns the sample of a share of the units.
func NewSample(share *big.Rat, stream *noise.Bits) *Sample {
	s := &Sample{below: Threshold(share)}
	s.key, s.macKey = drawKeys(stream)
	return s
}

// Threshold is the number below which a word of 64 bits is with the probability of a share, rounded down.
func Threshold(share *big.Rat) uint64 {
	scaled := new(big.Int).Lsh(share.Num(), 64)
	return scaled.Quo(scaled, share.Denom()).Uint64()
}

// Sampler is what one goroutine draws by.
type Sampler struct {
	*Sample
	draws draws
	out   []uint64
	days  []int64
}

// Sampler returns one for one more goroutine.
func (s *Sample) Sampler() (*Sampler, error) {
	block, err := aes.NewCipher(s.key)
	if err != nil {
		return nil, err
	}
	return &Sampler{Sample: s, draws: draws{block: block, seats: newSeats(s.macKey)}}, nil
}

// has tells that a unit is in the sample.
func (s *Sampler) has(from seat) bool {
	s.draws.start(from)
	return s.draws.word() < s.below
}

// Mask adds to the rows that are left out those whose unit is not in the sample: by their ids or, where there are none,
// by their places. What it returns is valid until the next call. Rows without an id, and ids of a type that tells no
// units apart, are left as they are: bounding refuses them.
func (s *Sampler) Mask(ids arrow.Array, rows, piece int, first int64, out []uint64) []uint64 {
	s.out = fit(s.out, (rows+63)/64)
	left := s.out
	clear(left)
	copy(left, out)
	leave := func(i int) { left[i>>6] |= 1 << (i & 63) }
	if ids == nil {
		for i := range rows {
			if !s.has(seat{uint64(piece)<<rowBits | uint64(first+int64(i)), 0}) {
				leave(i)
			}
		}
		return left
	}
	if KindOf(ids) == arrow.NULL {
		return left
	}
	name := s.names(ids)
	for i := range rows {
		if !ids.IsNull(i) && !s.has(s.draws.seats.rows(name(i))) {
			leave(i)
		}
	}
	return left
}

// names are the ids of rows as draws need them.
func (s *Sampler) names(ids arrow.Array) func(row int) name {
	if words, exact := Words(ids, &s.days); exact {
		return func(row int) name { return name{word: uint64(words[row])} }
	}
	value := Texts(ids)
	return func(row int) name { return name{long: []byte(value(row))} }
}
