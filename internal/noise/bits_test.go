package noise

import (
	"bytes"
	"crypto/aes"
	"encoding/binary"
	"math/big"
	"math/bits"
	"testing"
)

// scripted returns Bits that hand out the given words first.
func scripted(words ...uint64) *Bits {
	b := newBits([32]byte{})
	b.next = bufferBytes - 8*len(words)
	for i, word := range words {
		binary.LittleEndian.PutUint64(b.buffer[b.next+8*i:], word)
	}
	return b
}

// TestBelowGivesEveryResultEquallyManyWords finds, for each result r of Below(n),
// the first and the last word that gives r at once, from the definition of the
// mapping, and checks that they are ⌊2⁶⁴/n⌋ and that Below agrees at both ends.
func TestBelowGivesEveryResultEquallyManyWords(t *testing.T) {
	two64 := new(big.Int).Lsh(big.NewInt(1), 64)
	for _, n := range []uint64{1, 2, 3, 5, 6, 7, 10, 4096, 40961, 1<<32 - 1, 1 << 32, 1<<32 + 1, 1<<63 - 1, 1 << 63,
		1<<63 + 1, 1<<64 - 1} {
		words := new(big.Int).Quo(two64, new(big.Int).SetUint64(n))
		excess := new(big.Int).Mod(two64, new(big.Int).SetUint64(n))
		for _, result := range []uint64{0, 1, 2, n / 3, n / 2, n - 2, n - 1} {
			if result >= n {
				continue
			}
			// w·n ≥ result·2⁶⁴ + excess, and w·n < (result+1)·2⁶⁴
			low := new(big.Int).Mul(new(big.Int).SetUint64(result), two64)
			low.Add(low, excess)
			first := ceilQuotient64(low, n)
			high := new(big.Int).Mul(new(big.Int).Add(new(big.Int).SetUint64(result), big.NewInt(1)), two64)
			last := new(big.Int).Sub(ceilQuotient64(high, n), big.NewInt(1))
			if count := new(big.Int).Sub(last, first); count.Add(count, big.NewInt(1)).Cmp(words) != 0 {
				t.Errorf("Below(%d): %v words give %d, want %v", n, count, result, words)
			}
			for _, word := range []*big.Int{first, last} {
				b := scripted(word.Uint64(), ^uint64(0))
				if got := b.Below(n); got != result || b.next != bufferBytes-8 {
					t.Errorf("Below(%d) of word %v = %d after %d words, want %d after 1", n, word, got,
						2-(bufferBytes-b.next)/8,
						result)
				}
			}
			before := first.Uint64() - 1
			if h, l := bits.Mul64(before, n); first.Sign() > 0 && h == result && l < excess.Uint64() {
				b := scripted(before, first.Uint64())
				if got := b.Below(n); got != result || b.next != bufferBytes {
					t.Errorf("Below(%d) used the word %d, which is one too many", n, before)
				}
			}
		}
	}
}

func ceilQuotient64(p *big.Int, q uint64) *big.Int {
	divisor := new(big.Int).SetUint64(q)
	sum := new(big.Int).Add(p, new(big.Int).Sub(divisor, big.NewInt(1)))
	return sum.Quo(sum, divisor)
}

func TestBelowZeroAndBernoulliAtTheEdges(t *testing.T) {
	b := newBits(freshKey(t))
	for range 1000 {
		if b.Below(0) != 0 || b.Below(1) != 0 {
			t.Fatal("Below(0) or Below(1) is not 0")
		}
		if b.Bernoulli(0, 7) || !b.Bernoulli(7, 7) || !b.Bernoulli(9, 7) {
			t.Fatal("a certain Bernoulli failed")
		}
	}
}

func TestBelowBigReadsTheSameWordsAsBelow(t *testing.T) {
	key := freshKey(t)
	small, large := newBits(key), newBits(key)
	for n := uint64(1); n < 1<<62; n = n*3 + 1 {
		if got, want := large.BelowBig(new(big.Int).SetUint64(n)), small.Below(n); got.Uint64() != want {
			t.Fatalf("BelowBig(%d) = %v, Below = %d", n, got, want)
		}
	}
	if small.Uint64() != large.Uint64() {
		t.Error("the two have read different numbers of words")
	}
}

// TestBelowBigIsTheFirstPrefixBelow checks numbers above 64 bits against the
// definition: the leading bits of whole words, drawn again until below n.
func TestBelowBigIsTheFirstPrefixBelow(t *testing.T) {
	n := new(big.Int).Lsh(big.NewInt(5), 64) // 67 bits, of two words
	all := ^uint64(0)
	got := scripted(all, all, 4<<61|1, 7<<61).BelowBig(n)
	want := new(big.Int).Lsh(big.NewInt(4), 64) // 100 | 0…01 and 111: drop 61 bits
	want.Add(want, big.NewInt(1<<3|7))
	if got.Cmp(want) != 0 {
		t.Errorf("got %v, want %v", got, want)
	}
	b := newBits(freshKey(t))
	for range 10000 {
		if x := b.BelowBig(n); x.Sign() < 0 || x.Cmp(n) >= 0 {
			t.Fatalf("BelowBig(%v) = %v", n, x)
		}
	}
}

// TestTakenWordsAreTheKeystreamInOrder mixes all ways to read.
func TestTakenWordsAreTheKeystreamInOrder(t *testing.T) {
	key := [32]byte(freshKey(t))
	plain, mixed := newBits(key), newBits(key)
	read := 0
	expect := func(got uint64) {
		t.Helper()
		if want := plain.Uint64(); got != want {
			t.Fatalf("word %d is %x, want %x", read, got, want)
		}
		read++
	}
	choose := newBits([32]byte{5})
	for read < 20000 {
		if choose.Bool() {
			expect(mixed.Uint64())
		}
		count := 1 + int(choose.Below(3000))
		at, words := mixed.takeWords(count)
		if words < 1 || words > count {
			t.Fatalf("%d words, for %d", words, count)
		}
		if choose.Bool() {
			mixed.SecondStream().Uint64() // disturbs nothing
		}
		for i := range words {
			expect(mixed.wordAt(at + 8*i))
		}
	}
}

// TestAsideIsTheOtherHalfOfTheKeystream holds it to the definition: the counter
// from 2¹²⁷ on. Under one key, blocks of different counters differ always.
func TestAsideIsTheOtherHalfOfTheKeystream(t *testing.T) {
	key := [32]byte(freshKey(t))
	block, err := aes.NewCipher(key[:])
	if err != nil {
		t.Fatal(err)
	}
	b := newBits(key)
	for counter := range uint64(5000) {
		in := binary.BigEndian.AppendUint64([]byte{0x80, 0, 0, 0, 0, 0, 0, 0}, counter)
		var want [aes.BlockSize]byte
		block.Encrypt(want[:], in)
		got := binary.LittleEndian.AppendUint64(nil, b.SecondStream().Uint64())
		got = binary.LittleEndian.AppendUint64(got, b.SecondStream().Uint64())
		if !bytes.Equal(got, want[:]) {
			t.Fatalf("block %d is %x, want %x", counter, got, want)
		}
	}
}

// TestNoKeystreamBlockOccursTwice compares all blocks of 16 bytes of several
// streams and of what lies aside of them.
func TestNoKeystreamBlockOccursTwice(t *testing.T) {
	streams := NewStreams(freshKey(t), "blocks")
	seen := map[[2]uint64]bool{}
	for i := range 8 {
		stream := streams.Noise(nil, nil, i)
		for _, b := range []*Bits{stream, stream.SecondStream()} {
			for range 3 * bufferBytes / aes.BlockSize {
				words := firstWords(b)
				if seen[words] {
					t.Fatalf("stream %d: a block occurs twice", i)
				}
				seen[words] = true
			}
		}
	}
}

// TestTheOtherHalfHasNoHalf: it would begin where the other half does, and every word
// would be read twice.
func TestTheOtherHalfHasNoHalf(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("the other half of a keystream gives another one")
		}
	}()
	newBits(freshKey(t)).SecondStream().SecondStream()
}
