package histogram

// This file holds the sample: which units are measured where a release draws some of them in secret.

import (
	"crypto/aes"
	"encoding/binary"
	"math/big"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/dprelease/dprelease/internal/noise"
)

// sample draws units: each is in it with the probability of the spec, rounded down to a multiple of 2^−64.
//
// Guarantee: under a key that is fresh for the release, secret and erased, every unit is in the sample independently of all
// others and of everything that is in the table: whether it is, is a function of the key and of its id or, where each row is
// a unit, of the row's place among all rows that are read (AES-256, and HMAC-SHA256 of long ids, as pseudo-random
// functions). Neither workers nor memory change it. Theorem: Balle, Barthe & Gaboardi 2018, theorem 8. Argument:
// docs/proofs/sampling.md.
type sample struct {
	below  uint64 // words below it are drawn
	key    []byte
	macKey []byte
}

// newSample is the sample of a share of the units.
func newSample(share *big.Rat, stream *noise.Bits) *sample {
	s := &sample{below: below(share)}
	keys := make([]byte, 64)
	for i := 0; i < len(keys); i += 8 {
		binary.LittleEndian.PutUint64(keys[i:], stream.Uint64())
	}
	s.key, s.macKey = keys[:32], keys[32:]
	return s
}

// below is the number below which a word of 64 bits is with the probability of a share, rounded down.
func below(share *big.Rat) uint64 {
	scaled := new(big.Int).Lsh(share.Num(), 64)
	return scaled.Quo(scaled, share.Denom()).Uint64()
}

// sampler is what one goroutine draws by.
type sampler struct {
	*sample
	draws draws
	out   []uint64
	days  []int64
}

// sampler returns one for one more goroutine.
func (s *sample) sampler() (*sampler, error) {
	block, err := aes.NewCipher(s.key)
	if err != nil {
		return nil, err
	}
	return &sampler{sample: s, draws: draws{block: block, seats: newSeats(s.macKey)}}, nil
}

// sample prepares the drawing of units where the table says so.
func (t *tally) sample(s *noise.Streams) error {
	if t.table.Sample == nil {
		return nil
	}
	units := newSample(t.table.Sample, s.Sampling(t.table.Name, 0))
	for range t.workers {
		one, err := units.sampler()
		if err != nil {
			return err
		}
		t.samplers = append(t.samplers, one)
	}
	return nil
}

// drawn adds to the rows of a chunk that are left out those whose unit is not drawn.
func (t *tally) drawn(worker int, c *chunk, piece int, first int64, out []uint64) []uint64 {
	if t.samplers == nil {
		return out
	}
	return t.samplers[worker].mask(c, piece, first, out)
}

// has tells that a unit is in the sample.
func (s *sampler) has(from seat) bool {
	s.draws.start(from)
	return s.draws.word() < s.below
}

// mask adds to the rows that are left out those whose unit is not in the sample: by their ids or, where there are none, by
// their places. What it returns is valid until the next call. Rows without an id, and ids of a type that tells no units apart, are left
// as they are: bounding refuses them.
func (s *sampler) mask(c *chunk, piece int, first int64, out []uint64) []uint64 {
	left := cleared(&s.out, c.rows)
	copy(left, out)
	leave := func(i int) { left[i>>6] |= 1 << (i & 63) }
	if c.ids == nil {
		for i := range c.rows {
			if !s.has(seat{uint64(piece)<<rowBits | uint64(first+int64(i)), 0}) {
				leave(i)
			}
		}
		return left
	}
	if idKind(c.ids) == arrow.NULL {
		return left
	}
	name := s.names(c.ids)
	for i := range c.rows {
		if !c.ids.IsNull(i) && !s.has(s.draws.seats.rows(name(i))) {
			leave(i)
		}
	}
	return left
}

// names are the ids of rows as draws need them.
func (s *sampler) names(ids arrow.Array) func(row int) name {
	if words, exact := exactWords(ids, &s.days); exact {
		return func(row int) name { return name{word: uint64(words[row])} }
	}
	value := longIDs(ids)
	return func(row int) name { return name{long: []byte(value(row))} }
}
