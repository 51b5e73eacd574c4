package noise

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"math/big"
	"math/bits"
)

const (
	// bufferBytes is how much keystream is made at a time: it fits the first-level cache, and AES runs at full speed on
	// it.
	bufferBytes = 16 << 10
	// firstBytes is how much is made at first, and four times as much each time after that: most streams serve few
	// cells.
	firstBytes = 1 << 10
)

// Bits is a stream of independent, uniform bits: the AES-256-CTR keystream of
// one derived key, read as little-endian 64-bit words. It is not for concurrent
// use. Nothing is ever read twice.
type Bits struct {
	block     cipher.Block
	keystream cipher.Stream
	buffer    [bufferBytes]byte
	first     int   // where keystream begins in the buffer when it is made next
	next      int   // position of the next unread byte
	aside     *Bits // the other half of the keystream, made when first needed
	half      bool  // this is the other half
}

// newBits returns the stream of a key that is used for nothing else, which is
// why the counter may start at zero.
func newBits(key [32]byte) *Bits {
	block, err := aes.NewCipher(key[:])
	if err != nil {
		panic("noise: AES refused a 32-byte key: " + err.Error()) // its only error is another length
	}
	return &Bits{block: block, keystream: cipher.NewCTR(block, make([]byte, aes.BlockSize)),
		first: bufferBytes - firstBytes, next: bufferBytes}
}

// SecondStream returns a second stream that shares no word with this one: the keystream of the same key from counter
// 2¹²⁷ on, which nobody reaches from zero. A sampler that works through what [Bits.takeWords] returned reads the few
// further bits that a close decision needs from this second stream, so that it never disturbs, and never reads again,
// what it is working through. Every call returns the same stream, further on. The second stream has none of its own:
// calling Aside on it panics.
func (b *Bits) SecondStream() *Bits {
	if b.half {
		panic("noise: the other half of a keystream has none of its own")
	}
	if b.aside == nil {
		half := [aes.BlockSize]byte{0x80}
		b.aside = &Bits{block: b.block, keystream: cipher.NewCTR(b.block, half[:]), first: bufferBytes - firstBytes,
			next: bufferBytes, half: true}
	}
	return b.aside
}

var zeros [bufferBytes]byte // never written

func (b *Bits) refillBuffer() {
	b.keystream.XORKeyStream(b.buffer[b.first:], zeros[b.first:])
	b.next = b.first
	if !b.half { // a block reads at most some hundred words from Aside
		b.first = max(0, bufferBytes-4*(bufferBytes-b.first))
	}
}

// takeWords marks between 1 and count words as read, and returns where in the buffer they begin and how many there
// are. The caller may read them with wordAt until anything else is read from b.
func (b *Bits) takeWords(count int) (at, words int) {
	if b.next == bufferBytes {
		b.refillBuffer()
	}
	at, words = b.next, min(count, (bufferBytes-b.next)/8)
	b.next += 8 * words
	return at, words
}

// wordAt returns the word at a position in the buffer, a multiple of 8. (The mask tells the compiler that the
// position is inside.)
func (b *Bits) wordAt(at int) uint64 {
	at &= bufferBytes - 8
	return binary.LittleEndian.Uint64(b.buffer[at : at+8])
}

// Uint64 returns 64 uniform bits.
func (b *Bits) Uint64() uint64 {
	if b.next == bufferBytes {
		b.refillBuffer()
	}
	word := binary.LittleEndian.Uint64(b.buffer[b.next:])
	b.next += 8
	return word
}

// Bool returns one uniform bit.
func (b *Bits) Bool() bool { return b.Uint64()>>63 == 1 }

// Below returns a uniform integer in [0, n), exactly, or 0 for n = 0.
//
// A word w is mapped to ⌊w·n/2⁶⁴⌋ unless w·n mod 2⁶⁴ is below 2⁶⁴ mod n, when it
// is drawn again: that leaves exactly ⌊2⁶⁴/n⌋ words for every result (Lemire
// 2019).
func (b *Bits) Below(n uint64) uint64 {
	high, low := bits.Mul64(b.Uint64(), n)
	if low < n {
		for excess := -n % n; low < excess; {
			high, low = bits.Mul64(b.Uint64(), n)
		}
	}
	return high
}

// Bernoulli returns true with probability numerator/denominator, exactly. It always returns true if the numerator is
// the denominator or more.
func (b *Bits) Bernoulli(numerator, denominator uint64) bool {
	return b.Below(denominator) < numerator
}

// BelowBig returns a uniform integer in [0, n), exactly, for n > 0. Up to 64
// bits it reads the same words as Below; beyond, it draws as many bits as n has
// until they are below n.
func (b *Bits) BelowBig(n *big.Int) *big.Int {
	if n.IsUint64() {
		return new(big.Int).SetUint64(b.Below(n.Uint64()))
	}
	length := n.BitLen()
	drawn := new(big.Int)
	for {
		drawn.SetUint64(b.Uint64())
		for have := 64; have < length; have += 64 {
			drawn.Lsh(drawn, 64).Or(drawn, new(big.Int).SetUint64(b.Uint64()))
		}
		if spare := (64 - length%64) % 64; spare > 0 {
			drawn.Rsh(drawn, uint(spare))
		}
		if drawn.Cmp(n) < 0 {
			return drawn
		}
	}
}

// BernoulliBig returns true with probability numerator/denominator, exactly.
func (b *Bits) BernoulliBig(numerator, denominator *big.Int) bool {
	if numerator.IsUint64() && denominator.IsUint64() {
		return b.Bernoulli(numerator.Uint64(), denominator.Uint64())
	}
	return b.BelowBig(denominator).Cmp(numerator) < 0
}
