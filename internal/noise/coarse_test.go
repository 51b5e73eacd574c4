package noise

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"sort"
	"sync"
	"testing"

	"github.com/dprelease/dprelease/internal/testkit"
)

// coarseLaws span the offsets from 4 bits to the 48 that are the most, with odd
// denominators of up to 4096 bits.
func coarseLaws() map[string]*coarse { return maps.Clone(ownCoarseLaws()) }

// ownCoarseLaws are made once: nobody changes them.
var ownCoarseLaws = sync.OnceValue(func() map[string]*coarse {
	laws := map[string]*coarse{}
	for _, scaleBits := range []uint{10, 13, 20, 29, 40, 50, ratioBits + mostOffsetBits} {
		addCoarseLaws(laws, scaleBits)
	}
	return laws
})

// addCoarseLaws adds both laws of a scale of about 1.5·2^scaleBits, in which the
// cells have the same law whatever scaleBits is.
func addCoarseLaws(laws map[string]*coarse, scaleBits uint) {
	odd := new(big.Int).Sub(new(big.Int).Lsh(bigOne, 4000), bigOne)
	scale := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(3), scaleBits-1))
	scale.Mul(scale, new(big.Rat).SetFrac(new(big.Int).Add(odd, bigOne), odd))
	laws[fmt.Sprintf("laplace/2^%d", scaleBits)] = newCoarse(false, scale, scaleBits)
	laws[fmt.Sprintf("gaussian/2^%d", scaleBits)] = newCoarse(true, new(big.Rat).Mul(scale, scale), scaleBits)
}

// bigRejected returns 1−exp(−x) for offset r of cell j, from the definition of x.
func bigRejected(c *coarse, j int64, r *big.Int) *big.Float {
	side := new(big.Int).Lsh(bigOne, c.offsetBits)
	from := new(big.Int).Mul(big.NewInt(j), side)
	to := new(big.Int).Add(from, r)
	x := new(big.Rat)
	if c.law.square {
		x.SetInt(to.Mul(to, to).Sub(to, from.Mul(from, from)))
		x.Quo(x.Mul(x, big.NewRat(1, 2)), c.parameter)
	} else {
		x.Quo(x.SetInt(to.Sub(to, from)), c.parameter)
	}
	return new(big.Float).SetPrec(bigPrecision).Sub(bigFloat(1), bigExpNeg(x))
}

// cellCumulatives are F of the cells of the laws asked for, made once.
type cellCumulatives map[string][]*big.Float

var cumulatives = cellCumulatives{}

func (m cellCumulatives) of(c *coarse) []*big.Float {
	name := fmt.Sprint(c.law.square, c.law.rate)
	if m[name] == nil {
		m[name] = bigCumulative(c.law, 260)
	}
	return m[name]
}

// bigBound returns F(j−1) + (F(j)−F(j−1))·(1−exp(−x)), from which on a U of cell j
// keeps offset r.
func bigBound(c *coarse, cumulative []*big.Float, j int64, r uint64) *big.Float {
	if at := (boundAsked{c, j, r}); at != lastAsked {
		lastAsked, lastBound = at, newBigBound(c, cumulative, j, r)
	}
	return lastBound
}

// boundAsked is whose bound it is: one after the other, trials ask for that of the same offset.
type boundAsked struct {
	c *coarse
	j int64
	r uint64
}

var (
	lastAsked boundAsked
	lastBound *big.Float
)

func newBigBound(c *coarse, cumulative []*big.Float, j int64, r uint64) *big.Float {
	before := bigFloat(0)
	if j > 0 {
		before = cumulative[j-1]
	}
	bound := new(big.Float).SetPrec(bigPrecision).Sub(cumulative[j], before)
	bound.Mul(bound, bigRejected(c, j, new(big.Int).SetUint64(r)))
	return bound.Add(bound, before)
}

// fillerWord is a word with a positive sign that is a draw by itself: what follows
// a trial that is not kept.
func fillerWord(c *coarse) uint64 {
	const rest = 64 - coarseGuideBits
	place := uint64(1) << (coarseGuideBits - 2)
	for c.guide[place] >= undecided {
		place++
	}
	return place<<rest | 0x5555555555555554&(1<<rest-1)
}

// TestCoarseDrawsAreKeptWithTheExactProbability gives trials with a U around all
// that decides: the ends of a cell, and the bound of an offset, in 63 bits and in 64
// and 128 more.
func TestCoarseDrawsAreKeptWithTheExactProbability(t *testing.T) {
	testkit.SkipPassed(t)
	tried, exactly := 0, 0
	try := func(name string, c *coarse, prefix, r uint64, further ...uint64) {
		if prefix > 1<<prefixBits-1 {
			return // below 0
		}
		tried++
		if drawn, read := assertTrial(t, name, c, cumulatives.of(c), prefix, r, further); drawn < 0 && read > 1 {
			exactly++
		}
	}
	for name, c := range coarseLaws() {
		mask := uint64(1)<<c.offsetBits - 1
		for _, j := range []int64{0, 1, 77, lastSure(c)} {
			first := firstPrefix(c, j)
			for _, r := range []uint64{0, 1, mask/2 + 1, mask} {
				bits := bitsOf(bigBound(c, cumulatives.of(c), j, r), prefixBits+128)
				words := [2]uint64{new(big.Int).Rsh(bits, 64).Uint64(), bits.Uint64()}
				tie := new(big.Int).Rsh(bits, 128).Uint64()
				width := max(tie-first, 100) // of what is not kept
				for _, prefix := range []uint64{first, tie - width/2, tie - width/1000, tie + width/1000, tie + width/2,
					c.thresholds[j] - 1} {
					try(name, c, prefix, r, 2)
					try(name, c, prefix, r, ^uint64(1))
				}
				if tie > 0 && (c.law.square || r > 1 && c.offsetBits == 14) { // some, as these are slow
					try(name, c, tie-1, r, ^uint64(1))
					try(name, c, tie, r, (words[0]-1)&^1)
					try(name, c, tie, r, (words[0]+2)&^1)
					try(name, c, tie, r, words[0], (words[1]-1)&^1)
					try(name, c, tie, r, words[0], (words[1]+2)&^1)
					try(name, c, tie+1, r, 2)
				}
			}
		}
	}
	t.Logf("%d trials, %d of them decided by further bits", tried, exactly)
	if exactly < 500 {
		t.Errorf("only %d of %d trials are decided by further bits", exactly, tried)
	}
}

// assertTrial runs one trial with offset r and a negative sign, and a U of the bits
// of prefix, then those of further, then fillers. A trial that is not kept is
// followed by one with a positive sign. It returns the draw, and how many words were
// read aside.
func assertTrial(t *testing.T, name string, c *coarse, cumulative []*big.Float, prefix, r uint64,
	further []uint64) (drawn int64, read int) {
	t.Helper()
	mask := uint64(1)<<c.offsetBits - 1
	filler := fillerWord(c)
	aside := append([]uint64{prefix&mask | filler&^mask}, further...)
	aside = append(aside, slices.Repeat([]uint64{filler}, 40)...)
	b := bitsFrom([]uint64{prefix&^mask<<1 | r<<1 | 1}, aside)
	var out [1]int64
	if err := c.fill(b, out[:]); err != nil {
		t.Fatal(err)
	}
	u := new(big.Int).SetUint64(prefix)
	for _, word := range append(slices.Clone(further), filler, filler) {
		u.Lsh(u, 64).Or(u, new(big.Int).SetUint64(word))
	}
	exact := new(big.Float).SetPrec(bigPrecision).SetInt(u)
	exact.SetMantExp(exact, -prefixBits-64*(len(further)+2))
	j := int64(sort.Search(len(cumulative), func(m int) bool { return exact.Cmp(cumulative[m]) < 0 }))
	kept := exact.Cmp(bigBound(c, cumulative, j, r)) >= 0 && (j > 0 || r > 0) // else minus zero
	want := -(j<<c.offsetBits | int64(r))
	if kept != (out[0] < 0) || kept && out[0] != want || out[0] == 0 {
		t.Fatalf("%s: offset %d, U beginning with %x and %x: got %d, want %d to be kept: %v", name, r, prefix, further,
			out[0], want, kept)
	}
	return out[0], asideRead(b)
}

// firstPrefix is the least prefix that gives cell j without further bits.
func firstPrefix(c *coarse, j int64) uint64 {
	if j == 0 {
		return 0
	}
	return c.thresholds[j-1] + 1
}

// lastSure is the last cell of more than a thousand prefixes.
func lastSure(c *coarse) int64 {
	j := int64(len(c.thresholds)) - 1
	for firstPrefix(c, j)+1000 >= c.thresholds[j] {
		j--
	}
	return j
}

// bigDraw returns the cell of a U that begins with a prefix.
func bigDraw(cumulative []*big.Float, prefix uint64) int64 {
	u := new(big.Float).SetPrec(bigPrecision).SetUint64(prefix)
	u.SetMantExp(u, -prefixBits)
	return int64(sort.Search(len(cumulative), func(m int) bool { return u.Cmp(cumulative[m]) < 0 }))
}

// TestEveryCoarseWordIsDecidedAsItsNumbers draws with each of the 2²⁰ beginnings of
// a word that hold an offset of 3 bits, a negative sign and 17 bits of U, for the
// least and for the largest U that begins with these. Each is compared with what
// the exact F and bounds say. Nearly all must need no further bit.
func TestEveryCoarseWordIsDecidedAsItsNumbers(t *testing.T) {
	testkit.SkipPassed(t)
	testkit.SkipUnderRace(t)
	const offsetBits, length, draws = 3, 17, 1 << 20
	const rest = prefixBits - length
	laws := map[string]*coarse{}
	addCoarseLaws(laws, ratioBits+offsetBits)
	for name, c := range laws {
		cumulative := cumulatives.of(c)
		words := make([]uint64, 0, draws)
		for word := range uint64(draws) {
			words = append(words, word>>offsetBits<<(rest+1)|word&(1<<offsetBits-1)<<1|1)
		}
		for _, low := range []uint64{0, 1<<rest - 1} {
			filler := fillerWord(c)
			next := bigDraw(cumulative,
				filler>>1&^(1<<offsetBits-1)|filler&(1<<offsetBits-1))<<offsetBits | int64(filler>>1&(1<<offsetBits-1))
			b := bitsFrom(nil, slices.Repeat([]uint64{filler}, 40))
			b.SecondStream().Uint64()
			filled := slices.Clone(words)
			for i := range filled {
				filled[i] |= low &^ (1<<offsetBits - 1) << 1
			}
			b.keystream = &fixedWords{filled}
			binary.LittleEndian.PutUint64(b.aside.buffer[:], low)
			j, atOnce := int64(0), 0
			end := bitsOf(cumulative[0], prefixBits).Uint64() // ⌊2⁶³·F(j)⌋
			var bounds [1 << offsetBits]uint64
			enter := func() {
				for r := range bounds {
					bounds[r] = bitsOf(bigBound(c, cumulative, j, uint64(r)), prefixBits).Uint64()
				}
			}
			enter()
			for i := range words {
				prefix, r := uint64(i)>>offsetBits<<rest|low, int64(i)&(1<<offsetBits-1)
				for prefix > end {
					j++
					end = bitsOf(cumulative[j], prefixBits).Uint64()
					enter()
				}
				b.aside.next = 0
				var out [1]int64
				if err := c.fill(b, out[:]); err != nil {
					t.Fatal(err)
				}
				if b.aside.next == 0 {
					atOnce++
				}
				if prefix == end || prefix == bounds[r] && prefix > 0 {
					continue // 63 bits do not tell
				}
				want := -(j<<offsetBits | r)
				if prefix < bounds[r] || want == 0 {
					want = next
				}
				if out[0] != want {
					t.Fatalf("%s: offset %d, U beginning with %x: got %d, want %d", name, r, prefix, out[0], want)
				}
			}
			t.Logf("%s: %d of %d words need no further bits", name, atOnce, draws)
			if atOnce < draws*94/100 {
				t.Errorf("%s: only %d of %d words need no further bits", name, atOnce, draws)
			}
		}
	}
}

// TestApproximationIsWithinItsGuard compares 1−exp(−x) in words with many digits,
// also for offsets of more than a word.
func TestApproximationIsWithinItsGuard(t *testing.T) {
	laws := coarseLaws()
	addCoarseLaws(laws, 70)
	addCoarseLaws(laws, 400)
	for _, scaleBits := range []uint{10, 20, 50, 70} { // fewest cells a scale: x is largest
		scale := new(big.Rat).SetInt(new(big.Int).Lsh(bigOne, scaleBits))
		laws[fmt.Sprintf("laplace/least 2^%d", scaleBits)] = newCoarse(false, scale, scaleBits)
		laws[fmt.Sprintf("gaussian/least 2^%d", scaleBits)] = newCoarse(true, new(big.Rat).Mul(scale, scale), scaleBits)
	}
	largest, steepest := new(big.Int), uint64(0)
	for name, c := range laws {
		source := newBits(freshKey(t))
		last := uint64(len(c.thresholds)) - 1
		if last >= 1<<13 || c.base+last*c.slope >= 3*(1<<64)/20 {
			// the argument wants fewer than 2¹³, and x < 0.15
			t.Fatalf("%s: %d cells, x up to %x/2⁶⁴", name, last+1, c.base+last*c.slope)
		}
		steepest = max(steepest, c.base+last*c.slope)
		side := new(big.Int).Lsh(bigOne, c.offsetBits)
		for i := range int64(300) {
			j, r := source.Below(last+1), source.BelowBig(side)
			if i < 3 {
				j, r = last, r.Sub(side, big.NewInt(1+i))
			}
			exact := bitsOf(bigRejected(c, int64(j), r), 64)
			rho := new(big.Int).Lsh(r, 64)
			off := new(big.Int).SetUint64(c.rejectionShare(j, rho.Rsh(rho, c.offsetBits).Uint64()))
			if off.Sub(off, exact).Abs(off); off.Cmp(big.NewInt(guard/2)) >= 0 {
				t.Fatalf("%s: cell %d, offset %d: off by %v", name, j, r, off)
			}
			if off.Cmp(largest) > 0 {
				largest = off
			}
		}
	}
	if steepest < 14*(1<<64/100) {
		t.Errorf("x reaches only %x/2⁶⁴: the series is not tried where it is worst, at 0.14197", steepest)
	}
	t.Logf("off by at most %v of a guard of %d", largest, guard)
}

// TestCellsBeyondTheTableAreExact gives a U of nearly 1, which only further bits
// decide: the draw is far beyond the table, where the law says.
func TestCellsBeyondTheTableAreExact(t *testing.T) {
	const ones = ^uint64(0)
	for _, square := range []bool{false, true} {
		c := newSampler(square, big.NewRat(1<<26, 1)).coarse
		cumulative := cumulatives.of(c)
		beyond := 0
		for _, further := range [][]uint64{{0}, {1 << 63}, {ones - 1}, {ones, 0}} {
			for _, r := range []uint64{1, 5, 1<<c.offsetBits - 1} {
				drawn, _ := assertTrial(t, fmt.Sprint("square ", square), c, cumulative, 1<<prefixBits-1, r, further)
				if int(-drawn>>c.offsetBits) > len(c.thresholds) {
					beyond++
				}
			}
		}
		if beyond < 4 {
			t.Errorf("square %v: only %d draws are beyond the table", square, beyond)
		}
	}
}

// TestWideCellsAgree gives the same decisions to the loop for wide cells, which
// reads prefix and offset from two words.
func TestWideCellsAgree(t *testing.T) {
	for name, c := range coarseLaws() {
		source := newBits(freshKey(t))
		mask, filler := uint64(1)<<c.offsetBits-1, fillerWord(c)
		fillers := slices.Repeat([]uint64{filler}, 40)
		for range 2000 {
			prefix, r := source.Uint64()>>1, source.Uint64()&mask
			narrow := bitsFrom([]uint64{prefix&^mask<<1 | r<<1 | 1}, append([]uint64{prefix & mask}, fillers...))
			wide := bitsFrom(append([]uint64{prefix<<1 | 1, r << (64 - c.offsetBits)}, fillers...), fillers)
			var a, b [1]int64
			if err := c.fill(narrow, a[:]); err != nil {
				t.Fatal(err)
			}
			if err := c.fillWide(wide, b[:]); err != nil {
				t.Fatal(err)
			}
			if a[0] < 0 && a != b || a[0] >= 0 && b[0] < 0 { // negative if the first trial is kept
				t.Fatalf("%s: prefix %x, offset %x: %d and %d", name, prefix, r, a[0], b[0])
			}
		}
	}
}

// TestNoiseAboveEveryCountIsAnError draws one at a time from laws of which a known
// share is 2⁶² or more, to within 1e-12 by Chernoff's bound.
func TestNoiseAboveEveryCountIsAnError(t *testing.T) {
	const draws = 3000
	limit := new(big.Rat).SetInt(bigLimit)
	for _, c := range []struct {
		name      string
		add       func(*Bits, *big.Rat, []int64) error
		parameter *big.Rat
		share     float64 // P(|X| ≥ 2⁶²)
	}{
		{"t = 2⁶²", AddDiscreteLaplace, limit, 0.36787944117144233},
		{"t = 2⁶¹", AddDiscreteLaplace, new(big.Rat).Mul(limit, big.NewRat(1, 2)), 0.1353352832366127},
		{"σ = 2⁶²", AddDiscreteGaussian, new(big.Rat).Mul(limit, limit), 0.31731050786291415},
		{"σ = 2⁷⁰", AddDiscreteGaussian, new(big.Rat).Mul(limit, new(big.Rat).Mul(limit, big.NewRat(1<<16, 1))),
			1 - 0.0031166},
		{"t = 2⁵⁵", AddDiscreteLaplace, big.NewRat(1<<55, 1), 0}, // below exp(−128)
		{"σ = 2⁵⁶", AddDiscreteGaussian, big.NewRat(1<<56, 1).Mul(big.NewRat(1<<56, 1), big.NewRat(1<<56, 1)), 0},
	} {
		b := newBits(freshKey(t))
		failed := 0
		for range draws {
			counts := []int64{0}
			if err := c.add(b, c.parameter, counts); err != nil {
				failed++
				if counts[0] != 0 {
					t.Fatalf("%s: %d is left", c.name, counts[0])
				}
			} else if !isSmall(counts[0]) {
				t.Fatalf("%s: %d is not small", c.name, counts[0])
			}
		}
		if c.share == 0 && failed > 0 || c.share > 0 && binomialBound(failed, draws, c.share) < 1e-12 {
			t.Errorf("%s: %d of %d draws are errors, want a share of %v", c.name, failed, draws, c.share)
		}
	}
}
