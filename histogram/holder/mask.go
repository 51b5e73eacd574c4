package holder

// This file holds Masks, which hide a holder's numbers in a sum.

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/dprelease/dprelease/histogram/internal/answer"
)

const (
	maskVersion = "dprelease holder mask 1"
	// maxSum is what a sum stays below in absolute value.
	maxSum = 1 << 62
	// blockWords is how many words of a stream are made at a time: 16 KiB, which the first-level cache holds.
	blockWords = 2 << 10
	blockBytes = 8 * blockWords
)

var zeros [blockBytes]byte // never written

// Masks are a holder's masks for one roll. They show "confidential" however they are printed, and are not for
// concurrent use.
type Masks struct {
	answer.Redacted
	roll  Roll
	hash  string // of the roll
	name  string
	pairs func() []pair              // a function, into which no printing looks
	used  map[[sha256.Size]byte]bool // hashes of the measurements that were masked
}

// pair is what a holder has in common with another one.
type pair struct {
	first, second string // the names, sorted
	adds          bool   // the holder is the first, which adds the mask; the second subtracts it
	secret        []byte // pseudo-random: HKDF-Extract of the X25519 secret
}

// NewMasks agrees on secrets with all other holders of a roll. It returns an error unless the roll is valid and the key
// is the holder's in it. It does not see signatures: the caller first checks every holder's ([Roll.Verify]).
func NewMasks(roll Roll, key Key, holder string) (*Masks, error) {
	if err := roll.checkKey(key, holder); err != nil {
		return nil, err
	}
	var pairs []pair
	for _, other := range roll.Holders {
		if other == holder {
			continue
		}
		secret, err := agreeOn(key, roll.Keys[other])
		if err != nil {
			return nil, fmt.Errorf("with %q: %w", other, err)
		}
		pairs = append(pairs, pair{min(holder, other), max(holder, other), holder < other, secret})
	}
	return &Masks{roll: roll, hash: roll.Hash(), name: holder, pairs: func() []pair { return pairs },
		used: map[[sha256.Size]byte]bool{}}, nil
}

// Holder returns the name of the holder.
func (m *Masks) Holder() string { return m.name }

// Roll returns the hash of the roll.
func (m *Masks) Roll() string { return m.hash }

// agreeOn returns a pseudo-random secret that only two holders know.
func agreeOn(key Key, other PublicKey) ([]byte, error) {
	shared, err := other.agree(key.private().agreeing)
	if err != nil {
		return nil, err
	}
	defer clear(shared)
	return hkdf.Extract(sha256.New, shared, []byte(maskVersion))
}

// Mask adds the holder's masks of one measurement to its values, modulo 2^64, in place. The values are noisy answers,
// signed integers in two's complement. The measurement is its canonical definition. The sum of all holders' masked
// values is the sum of their values. Each value must be below 2^62 over the number of holders in absolute value, so
// that no sum wraps around.
//
// Guarantee: to whoever lacks the keys of the holder and of one other holder, the masked values are uniform, whatever
// the values are (docs/proofs/holders.md). A mask hides one vector of values. A caller that was interrupted may mask
// the same values again, and never others: Masks returns an error for a measurement that it has masked, but cannot know
// what was masked elsewhere.
//
// It returns an error if a value is too large or the measurement was masked before. Then the values are as they were.
func (m *Masks) Mask(measurement []byte, values []uint64) error {
	id := sha256.Sum256(measurement)
	if m.used[id] {
		return errors.New("the measurement was masked already: two vectors under one mask would show their difference")
	}
	most := int64(maxSum / len(m.roll.Holders))
	for _, v := range values {
		if x := int64(v); x <= -most || x >= most {
			return fmt.Errorf("a value is too large to be summed over %d holders", len(m.roll.Holders))
		}
	}
	m.used[id] = true
	streams, err := m.streams(measurement)
	if err != nil {
		return err
	}
	maskBlocks(streams, values)
	return nil
}

// Unmask takes the holder's masks of one measurement off its values again, in place.
func (m *Masks) Unmask(measurement []byte, values []uint64) error {
	streams, err := m.streams(measurement)
	if err != nil {
		return err
	}
	for i := range streams {
		streams[i].adds = !streams[i].adds
	}
	maskBlocks(streams, values)
	return nil
}

// stream is the mask that two holders share: the AES-256-CTR keystream of a key that is used for nothing else, which is
// why the counter may start at zero, read as little-endian words.
type stream struct {
	keystream cipher.Stream
	adds      bool
}

// streams returns the holder's masks of a measurement, from their beginning.
func (m *Masks) streams(measurement []byte) ([]stream, error) {
	var all []stream
	for _, p := range m.pairs() {
		keystream, err := p.keystream(m.roll.PlanHash, m.hash, measurement)
		if err != nil {
			return nil, err
		}
		all = append(all, stream{keystream, p.adds})
	}
	return all, nil
}

// keystream derives the stream of a pair for a measurement. The info of HKDF has the length of each part before it, so
// that other parts never make the same info.
func (p pair) keystream(planHash, rollHash string, measurement []byte) (cipher.Stream, error) {
	var info []byte
	for _, part := range []string{maskVersion, planHash, rollHash, p.first, p.second, string(measurement)} {
		info = append(binary.BigEndian.AppendUint64(info, uint64(len(part))), part...)
	}
	key, err := hkdf.Expand(sha256.New, p.secret, string(info), 32)
	if err != nil {
		return nil, err
	}
	defer clear(key)
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewCTR(block, make([]byte, aes.BlockSize)), nil
}

// maskBlocks adds streams to values, or subtracts them. It takes all streams for one block before the next, so that the
// values pass through memory once.
func maskBlocks(streams []stream, values []uint64) {
	words := make([]byte, blockBytes)
	defer clear(words)
	for len(values) > 0 {
		block := values[:min(len(values), blockWords)]
		for _, s := range streams {
			b := words[:8*len(block)]
			s.keystream.XORKeyStream(b, zeros[:len(b)])
			if s.adds {
				for i := range block {
					block[i] += binary.LittleEndian.Uint64(b[8*i:])
				}
			} else {
				for i := range block {
					block[i] -= binary.LittleEndian.Uint64(b[8*i:])
				}
			}
		}
		values = values[len(block):]
	}
}
