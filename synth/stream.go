package synth

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/binary"
	"math/bits"

	"github.com/dprelease/dprelease/internal/measured"
)

// This file holds the randomness of publishing: public, and the same wherever the same measurements are published.

// stream is a sequence of uniform bits: the keystream of AES-256 in counter mode under a seed.
type stream struct {
	keys   cipher.Stream
	buffer [4096]byte
	next   int
}

// newStream returns the stream for one purpose of a sealed folder. Its seed is the SHA-256 of the plan hash, the
// purpose and every measurement with its definition and its noisy integers. All of that is published or may be, so
// draws from it reveal nothing more.
func newStream(s *measured.Sealed, purpose string) *stream {
	h := sha256.New()
	word := func(n uint64) { h.Write(binary.BigEndian.AppendUint64(nil, n)) }
	part := func(b []byte) {
		word(uint64(len(b)))
		h.Write(b)
	}
	answers := func(m measured.Measured) {
		part(m.Measurement.Canonical())
		values := m.Values.Int64Values()
		word(uint64(len(values)))
		for _, v := range values {
			word(uint64(v))
		}
	}
	part([]byte("dprelease publish 1"))
	part([]byte(s.Plan.Hash()))
	part([]byte(purpose))
	word(uint64(len(s.Measured)))
	for _, m := range s.Measured {
		answers(m)
	}
	word(uint64(len(s.Rounds)))
	for _, rounds := range s.Rounds {
		word(uint64(len(rounds.All)))
		for _, r := range rounds.All {
			word(uint64(r.Choice))
			answers(r.Measured)
		}
	}
	return seededStream([sha256.Size]byte(h.Sum(nil)))
}

func seededStream(seed [sha256.Size]byte) *stream {
	block, err := aes.NewCipher(seed[:])
	if err != nil {
		panic("synth: AES refused a 32-byte key: " + err.Error()) // its only error is another length
	}
	r := &stream{keys: cipher.NewCTR(block, make([]byte, aes.BlockSize))}
	r.next = len(r.buffer)
	return r
}

// nextWord returns the next 64 bits.
func (r *stream) nextWord() uint64 {
	if r.next == len(r.buffer) {
		clear(r.buffer[:])
		r.keys.XORKeyStream(r.buffer[:], r.buffer[:])
		r.next = 0
	}
	w := binary.LittleEndian.Uint64(r.buffer[r.next:])
	r.next += 8
	return w
}

// below returns a uniform integer in [0, n), for n > 0. Theorem: Lemire 2019: it rejects those of the 2⁶⁴ words that
// would make some results likelier than others.
func (r *stream) below(n uint64) uint64 {
	high, low := bits.Mul64(r.nextWord(), n)
	if low < n {
		for refused := -n % n; low < refused; {
			high, low = bits.Mul64(r.nextWord(), n)
		}
	}
	return high
}

// unit returns a uniform multiple of 2⁻⁵³ in [0, 1).
func (r *stream) unit() float64 { return float64(float64(r.nextWord()>>11) * 0x1p-53) }

// shuffle puts entries into a uniformly random order.
func shuffle[E any](r *stream, entries []E) {
	for i := len(entries) - 1; i > 0; i-- {
		j := r.below(uint64(i + 1))
		entries[i], entries[j] = entries[j], entries[i]
	}
}
