package noise

import (
	"encoding/binary"
	"math/big"
	"testing"

	"github.com/dprelease/dprelease/internal/testkit"
)

// TestThresholdsAreTheVectors compares all 11 laws bit for bit, at 64 bits and at
// the 63 that draws use.
func TestThresholdsAreTheVectors(t *testing.T) {
	for _, v := range vectors(t) {
		wide, used := v.law.magnitudes().thresholds(64), newTable(v.law.magnitudes(), prefixBits).thresholds
		for m, want := range v.cumulative64 {
			if got := wide[min(m, len(wide)-1)]; got != want {
				t.Errorf("%s: ⌊2⁶⁴·F(%d)⌋ = %x, want %x", v.law.name, m, got, want)
			}
			if got := used[min(m, len(used)-1)]; got != want>>1 {
				t.Errorf("%s: ⌊2⁶³·F(%d)⌋ = %x, want %x", v.law.name, m, got, want>>1)
			}
		}
		if last := used[len(used)-1]; last != 1<<63-1 || used[len(used)-2] == last {
			t.Errorf("%s: the last threshold is %x", v.law.name, last)
		}
	}
}

// TestThresholdsOfAnyTableAreExact compares tables that the vectors do not have:
// wide ones, cells of coarse samplers, odd parameters and the smallest.
func TestThresholdsOfAnyTableAreExact(t *testing.T) {
	entries := 0
	for _, l := range []magnitudes{
		gaussianLaw(1000).magnitudes(),
		laplaceLaw(100).magnitudes(),
		newCoarse(true, gaussianLaw(1e4).parameter, 13).law,
		newCoarse(true, gaussianLaw(1e9).parameter, 29).law,
		newCoarse(false, laplaceLaw(1e6).parameter, 19).law,
		{square: true, folded: true, rate: big.NewRat(998244353, 1000000007)},
		{folded: true, rate: big.NewRat(1<<40+1, 12345)},
		{square: true, folded: true, rate: new(big.Rat).SetInt(new(big.Int).Lsh(bigOne, 4095))},
	} {
		got, want := l.thresholds(prefixBits), bigCumulative(l, 70)
		for m := range got {
			exact := uint64(1<<63 - 1)
			if m < len(want) {
				if floor := bitsOf(want[m], prefixBits); floor.BitLen() <= prefixBits {
					exact = floor.Uint64()
				}
			}
			if got[m] != exact {
				t.Fatalf("square %v, rate %v: threshold %d is %x, want %x", l.square, l.rate, m, got[m], exact)
			}
		}
		entries += len(got)
	}
	t.Logf("%d thresholds", entries)
}

// fixedWords is a keystream of given words, then of zeros.
type fixedWords struct{ words []uint64 }

func (f *fixedWords) XORKeyStream(dst, src []byte) {
	copy(dst, src)
	for at := 0; at+8 <= len(dst) && len(f.words) > 0; at += 8 {
		binary.LittleEndian.PutUint64(dst[at:], binary.LittleEndian.Uint64(dst[at:])^f.words[0])
		f.words = f.words[1:]
	}
}

// bitsFrom returns Bits that hand out given words, and others aside.
func bitsFrom(words, aside []uint64) *Bits {
	return &Bits{
		keystream: &fixedWords{words}, next: bufferBytes,
		aside: &Bits{keystream: &fixedWords{aside}, next: bufferBytes},
	}
}

// asideRead is how many words have been read aside, if there were not many.
func asideRead(b *Bits) int {
	if b.aside.next == bufferBytes {
		return 0
	}
	return b.aside.next / 8
}

// TestEveryWordIsCounted draws once with each of the 2²⁰ words of a sampler with
// 19-bit prefixes. Every value must get exactly the words between its two
// thresholds, with either sign, and exactly the words equal to a threshold must
// need more bits. The thresholds are those of the vectors.
func TestEveryWordIsCounted(t *testing.T) {
	testkit.SkipUnderRace(t)
	const length = 19
	for _, v := range vectors(t) {
		all := v.all()
		table := newTable(v.law.magnitudes(), length)
		words := make([]uint64, 0, 2<<length)
		for prefix := range uint64(1 << length) {
			words = append(words, prefix<<(64-length), prefix<<(64-length)|1)
		}
		b := bitsFrom(words, nil)
		counts := make([][2]int, len(all)+1) // of each magnitude, with either sign
		slow := map[uint64]int{}
		var out [1]int64
		for _, word := range words {
			b.aside.next = 0 // to zeros, over and over
			if table.fill(b, out[:]); b.aside.next > 0 {
				slow[word>>(64-length)]++
			} else {
				counts[max(out[0], -out[0])][uint64(out[0])>>63]++
			}
		}
		got := map[int64]int{}
		for m, of := range counts {
			if of[0] > 0 {
				got[int64(m)] = of[0]
			}
			if of[1] > 0 {
				got[-int64(m)] = of[1]
			}
		}
		assertWordCounts(t, v.law.name, all, length, got, slow)
	}
}

// assertWordCounts compares with what 64-bit thresholds say.
func assertWordCounts(t *testing.T, name string, all []uint64, length uint, got map[int64]int, slow map[uint64]int) {
	t.Helper()
	first := uint64(0) // the least prefix that can be m
	values, ties := 0, map[uint64]bool{}
	for m, exact := range all {
		threshold := exact >> (64 - length)
		want := 0
		if threshold > first {
			want = int(threshold - first)
		}
		for _, x := range []int64{int64(m), -int64(m)} {
			expected := want
			if m == 0 {
				expected = 2 * want
			}
			if got[x] != expected {
				t.Fatalf("%s: %d words give %d, want %d", name, got[x], x, expected)
			}
			if values += got[x]; m == 0 {
				break
			}
		}
		ties[threshold] = true
		first = threshold + 1
	}
	for threshold := range ties {
		if slow[threshold] != 2 {
			t.Fatalf("%s: the words of threshold %x need more bits %d times, want 2", name, threshold, slow[threshold])
		}
	}
	if len(slow) != len(ties) || values+2*len(slow) != 2<<length {
		t.Errorf("%s: %d prefixes need more bits, want %d; %d words in all", name, len(slow), len(ties),
			values+2*len(slow))
	}
	t.Logf("%s: %d of %d prefixes need more bits", name, len(slow), 1<<length)
}

// TestDrawsInvertTheDistribution runs the same code with prefixes of 4 to 11 bits,
// so that a large share of draws needs further bits, and compares every draw with
// the least m with U < F(m), for the U that was used and the F of the vectors.
func TestDrawsInvertTheDistribution(t *testing.T) {
	for _, v := range vectors(t) {
		all := v.all()
		draws := 1500
		if len(all) > 100 {
			draws = 30 // each takes a long sum
		}
		for length := uint(4); length <= 11; length++ {
			table := newTable(v.law.magnitudes(), length)
			source := newBits(freshKey(t))
			words, aside := make([]uint64, draws), make([]uint64, draws)
			for i := range words {
				words[i] = source.Uint64() &^ (^uint64(0)>>length - 1) // prefix and sign
				aside[i] = source.Uint64()
			}
			b := bitsFrom(words, aside)
			slow := 0
			for i, word := range words {
				var out [1]int64
				table.fill(b, out[:])
				u := word &^ 1
				if read := asideRead(b); read > slow {
					u |= aside[slow] >> length // the rest of aside decides with probability 2⁻⁵³
					slow++
				}
				m := uint64(0)
				for all[m] < u {
					m++
				}
				if want := withSign(m, word&1); out[0] != want {
					t.Fatalf("%s, %d bits, draw %d: word %x, U = %x/2⁶⁴: got %d, want %d", v.law.name, length, i, word,
						u, out[0],
						want)
				}
			}
			if asideRead(b) != slow || length == 4 && slow == 0 {
				t.Errorf("%s, %d bits: %d of %d draws took further bits, and %d words were read", v.law.name, length,
					slow, draws,
					asideRead(b))
			}
		}
	}
}

// TestTiesAreDecidedByFurtherWords gives a draw the first bits of F(m) itself: 63,
// then 64 more, then 64 more. Only what follows decides between m and m+1.
func TestTiesAreDecidedByFurtherWords(t *testing.T) {
	for _, l := range []exactLaw{gaussianLaw(2), gaussianLaw(100), laplaceLaw(0.5), laplaceLaw(10)} {
		table, exact := newTable(l.magnitudes(), prefixBits), bigCumulative(l.magnitudes(), 260)
		for _, m := range []int{0, 1, len(table.thresholds) / 3, len(table.thresholds) - 2, len(table.thresholds) + 3} {
			for _, words := range []int{1, 2, 3} {
				bits := bitsOf(exact[m], prefixBits+64*words)
				aside := make([]uint64, words)
				for i := words - 1; i >= 0; i-- {
					aside[i] = bits.Uint64() // the low word
					bits.Rsh(bits, 64)
				}
				for end, want := range map[uint64]int64{0: int64(m), ^uint64(0): int64(m) + 1} {
					b := bitsFrom([]uint64{bits.Uint64() << 1}, append(aside[:words:words], end, end))
					var out [1]int64
					if table.fill(b, out[:]); out[0] != want {
						t.Errorf("%s: U beginning with %d bits of F(%d), then %x: got %d, want %d", l.name,
							prefixBits+64*words, m, end,
							out[0], want)
					}
				}
			}
		}
	}
}

// TestLongTiesReachFarIntoTheTail gives a U of 1 − 2⁻¹⁹¹: the draw is far beyond the
// table, where the law says.
func TestLongTiesReachFarIntoTheTail(t *testing.T) {
	const ones = ^uint64(0)
	for _, l := range []exactLaw{gaussianLaw(2), laplaceLaw(2)} {
		table, exact := newTable(l.magnitudes(), prefixBits), bigCumulative(l.magnitudes(), 260)
		u := new(big.Float).SetPrec(bigPrecision).Sub(bigFloat(1), new(big.Float).SetMantExp(bigFloat(1), -191))
		want := 0
		for exact[want].Cmp(u) <= 0 {
			want++
		}
		var out [1]int64
		if table.fill(bitsFrom([]uint64{ones}, []uint64{ones, ones, 0, 0}), out[:]); out[0] != -int64(want) {
			t.Errorf("%s: got %d, want %d", l.name, out[0], -want)
		}
		if want < len(table.thresholds) {
			t.Errorf("%s: %d is in the table", l.name, want)
		}
	}
}
