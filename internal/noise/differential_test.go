package noise

import (
	"math/big"
	"testing"
)

// parameters spread over what fits into words, its ends, and odd denominators.
func wordParameters() []*big.Rat {
	var all []*big.Rat
	for _, text := range []string{
		"1/4096", "3/4096", "1/9", "1/2", "4095/4096", "1", "4097/4096", "2", "5/2", "16793/4096", "10", "409601/4096",
		"99999/7", "40960001/4096", "1000003", "4096000000000001/4096", "1/1000000007", "998244353/1000000007",
		"1/1152921504606846976", "1152921504606846976", "2305843009213693951/3",
	} {
		r, _ := new(big.Rat).SetString(text)
		all = append(all, r)
	}
	return all
}

// assertSame draws from both forms on equal bits, and compares every draw and
// how much has been read.
func assertSame(t *testing.T, parameter *big.Rat, fast func(*Bits) (int64, error), reference func(*Bits) *big.Int) {
	t.Helper()
	key := freshKey(t)
	fastBits, referenceBits := newBits(key), newBits(key)
	for i := range 3000 {
		got, err := fast(fastBits)
		want, wantErr := smallEnough(reference(referenceBits))
		if got != want || (err == nil) != (wantErr == nil) {
			t.Fatalf("parameter %v, draw %d: words %d (%v), reference %d (%v), key %x", parameter, i, got, err, want, wantErr, key[:])
		}
		if err == nil && fastBits.next != referenceBits.next {
			t.Fatalf("parameter %v, draw %d: read to %d and %d, key %x", parameter, i, fastBits.next, referenceBits.next, key[:])
		}
	}
}

func TestLaplaceOnWordsIsTheReference(t *testing.T) {
	for _, scale := range wordParameters() {
		fast := laplace{scale.Num().Uint64(), scale.Denom().Uint64()}
		reference := bigLaplace{scale.Num(), scale.Denom()}
		assertSame(t, scale, fast.draw, func(b *Bits) *big.Int { return reference.draw(b) })
	}
}

func TestGaussianOnWordsIsTheReference(t *testing.T) {
	compared := 0
	for _, sigmaSquared := range wordParameters() {
		reference := newBigGaussian(sigmaSquared)
		fast, fits := newGaussian(reference)
		if !fits {
			continue
		}
		compared++
		assertSame(t, sigmaSquared, fast.draw, func(b *Bits) *big.Int { return reference.draw(b) })
	}
	if compared < 15 {
		t.Errorf("only %d parameters fit into words", compared)
	}
}

// TestAcceptanceFallsBackOnTheSameBits reaches the decision that is too large
// for words, which no draw does in practice.
func TestAcceptanceFallsBackOnTheSameBits(t *testing.T) {
	reference := newBigGaussian(big.NewRat(1<<40, 4095))
	fast, fits := newGaussian(reference)
	if !fits {
		t.Fatal("the parameter does not fit into words")
	}
	key := freshKey(t)
	a, b := newBits(key), newBits(key)
	for _, magnitude := range []uint64{0, 1 << 14, 1 << 36, 1<<36 + 1, 1 << 50, 1<<62 - 1} {
		for range 100 {
			if fast.accept(a, magnitude) != reference.accept(b, new(big.Int).SetUint64(magnitude)) || a.next != b.next {
				t.Fatalf("the two decide differently on %d", magnitude)
			}
		}
	}
}

// TestQuotientIsExact compares the 128-bit quotient with math/big.
func TestQuotientIsExact(t *testing.T) {
	for _, n := range []uint64{1, 3, 1 << 32, 1<<63 + 5, 1<<64 - 1} {
		for _, d := range []uint64{1, 2, 4096, 1<<33 + 1, 1<<64 - 1} {
			for _, v := range []uint64{0, 1, 40, 1 << 33, 1<<64 - 1} {
				u := n - 1
				want := new(big.Int).Mul(new(big.Int).SetUint64(n), new(big.Int).SetUint64(v))
				want.Add(want, new(big.Int).SetUint64(u)).Quo(want, new(big.Int).SetUint64(d))
				got, fits := laplace{n, d}.quotient(u, v)
				if fits != want.IsUint64() || fits && got != want.Uint64() {
					t.Errorf("(%d + %d·%d)/%d = %d (%v), want %v", u, n, v, d, got, fits, want)
				}
			}
		}
	}
}
