package noise

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/big"
	"slices"
	"sync"
	"testing"
)

// drawBlock is one block of noise of a law.
func drawBlock(t *testing.T, l exactLaw, streams *Streams, block int) []int64 {
	t.Helper()
	out := make([]int64, BlockCells)
	if err := production(l)(streams.Noise([]byte(l.name), nil, block), out); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestNoiseDependsOnItsStreamAlone draws blocks in order, backwards, at once on
// several goroutines, and in parts.
func TestNoiseDependsOnItsStreamAlone(t *testing.T) {
	const blocks = 12
	streams := NewStreams(freshKey(t), "schedule")
	for _, l := range []exactLaw{gaussianLaw(10), laplaceLaw(1000), gaussianLaw(1e6), laplaceLaw(1e9)} {
		inOrder := make([][]int64, blocks)
		for i := range blocks {
			inOrder[i] = drawBlock(t, l, streams, i)
		}
		for i := blocks - 1; i >= 0; i-- {
			if !slices.Equal(drawBlock(t, l, streams, i), inOrder[i]) {
				t.Fatalf("%s: block %d is another when drawn backwards", l.name, i)
			}
		}
		atOnce := make([][]int64, blocks)
		var wait sync.WaitGroup
		for i := range blocks {
			wait.Go(func() { atOnce[i] = drawBlock(t, l, streams, i) })
		}
		wait.Wait()
		for i := range blocks {
			if !slices.Equal(atOnce[i], inOrder[i]) {
				t.Fatalf("%s: block %d is another when drawn at once", l.name, i)
			}
			if i > 0 && slices.Equal(inOrder[i], inOrder[i-1]) {
				t.Fatalf("%s: blocks %d and %d are equal", l.name, i-1, i)
			}
		}
		shorter := make([]int64, 100)
		if err := production(l)(streams.Noise([]byte(l.name), nil, 0), shorter); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(shorter, inOrder[0][:100]) {
			t.Errorf("%s: a shorter block begins differently", l.name)
		}
	}
}

// TestNoiseIsFixedByItsDefinition holds a hash of one block of each law. A change
// means that a release interrupted before it cannot resume to the same noise after
// it: derivationSalt must change with it.
func TestNoiseIsFixedByItsDefinition(t *testing.T) {
	hash := sha256.New()
	include := func(l exactLaw, out []int64) {
		if err := production(l)(newBits([32]byte{1, 2, 3}), out); err != nil {
			t.Fatal(err)
		}
		for _, x := range out {
			hash.Write(binary.LittleEndian.AppendUint64(nil, uint64(x)))
		}
	}
	for _, l := range batteryLaws() {
		include(l, make([]int64, BlockCells))
	}
	include(exactLaw{parameter: new(big.Rat).SetFrac(new(big.Int).Lsh(big.NewInt(3), 57), big.NewInt(7))},
		make([]int64, 64))
	const want = "0c6fc074377be445add135f1e189bb57de8f5e6fe5cd7e8f111a19def8fbcbde"
	if got := hex.EncodeToString(hash.Sum(nil)); got != want {
		t.Errorf("the noise is %s, want %s", got, want)
	}
}

// TestSamplersAreSharedAndFew asks for more laws than are kept, from several
// goroutines, and compares with samplers made afresh.
func TestSamplersAreSharedAndFew(t *testing.T) {
	const laws, workers = mostSamplers + 20, 8
	c := cache{entries: map[lawName]*entry{}, room: mostSamplers}
	parameter := func(i int) *big.Rat { return big.NewRat(int64(i)+1, 7) }
	var want [laws][8]int64
	for i := range laws {
		newSampler(i%2 == 0, parameter(i)).values.fill(newBits([32]byte{9}), want[i][:])
	}
	var wait sync.WaitGroup
	failures := make(chan string, workers)
	for w := range workers {
		wait.Go(func() {
			for step := range 3 * laws {
				i := (step*(2*w+1) + w) % laws
				p := parameter(i)
				s := c.samplerOf(i%2 == 0, p)
				p.SetInt64(1 << 40) // the caller's own: it may change
				var got [8]int64
				if s.values.fill(newBits([32]byte{9}), got[:]); got != want[i] {
					failures <- fmt.Sprintf("law %d: got %v, want %v", i, got, want[i])
					return
				}
			}
		})
	}
	wait.Wait()
	close(failures)
	for failure := range failures {
		t.Error(failure)
	}
	if len(c.entries) != mostSamplers {
		t.Errorf("%d samplers are kept, want %d", len(c.entries), mostSamplers)
	}
	if c.samplerOf(false, big.NewRat(1, 3)) != c.samplerOf(false, big.NewRat(2, 6)) {
		t.Error("one law has two samplers")
	}
	if c.samplerOf(false, big.NewRat(1, 3)) == c.samplerOf(true, big.NewRat(1, 3)) {
		t.Error("two laws have one sampler")
	}
}

// TestTheLawsUsedLastAreKept asks again and again for one law between others.
func TestTheLawsUsedLastAreKept(t *testing.T) {
	c := cache{entries: map[lawName]*entry{}, room: mostSamplers}
	first := c.samplerOf(false, big.NewRat(1, 2))
	for i := range int64(3 * mostSamplers) {
		c.samplerOf(true, big.NewRat(1, i+1))
		if c.samplerOf(false, big.NewRat(1, 2)) != first {
			t.Fatalf("the law used last was dropped after %d others", i+1)
		}
	}
}

// TestEveryScaleHasASampler draws from scales at powers of two, one from a power
// to either side, and at the ends of what is allowed: either the draws are small
// or it is an error.
func TestEveryScaleHasASampler(t *testing.T) {
	for _, power := range []int{-4095, -70, -1, 0, 1, 9, 10, 11, 49, 50, 54, 55, 56, 57, 62, 63, 64, 100, 1000, 4094} {
		exact := new(big.Rat).SetInt(new(big.Int).Lsh(bigOne, uint(max(power, -power))))
		if power < 0 {
			exact.Inv(exact)
		}
		for _, factor := range []*big.Rat{big.NewRat(1, 1), big.NewRat(1<<20-1, 1<<20), big.NewRat(1<<20+1, 1<<20)} {
			parameter := new(big.Rat).Mul(exact, factor)
			for name, add := range adders {
				counts := []int64{1, 1, 1, 1}
				err := add(newBits(freshKey(t)), parameter, counts)
				scalePower := power
				if name == "gaussian" {
					scalePower = power / 2
				}
				if checkParameter("", parameter) == nil && scalePower <= 50 && err != nil {
					t.Errorf("%s, about 2^%d: %v", name, power, err) // honest with probability below exp(−4000)
				}
				if scalePower >= 1000 && err == nil {
					t.Errorf("%s, about 2^%d: got %v", name, power, counts) // honest with probability below 2⁻⁹⁰⁰
				}
				if power <= -70 && err == nil && !slices.Equal(counts, []int64{1, 1, 1, 1}) {
					t.Errorf("%s, about 2^%d: got %v", name, power, counts) // honest with probability below exp(−2⁶⁸)
				}
			}
		}
	}
}
