package noise

import (
	"fmt"
	"math/big"
	"testing"
)

// coarseLaws span the offsets from 3 bits to the 48 that are the most, with odd
// denominators of up to 4096 bits.
func coarseLaws() map[string]*coarse {
	odd := new(big.Int).Sub(new(big.Int).Lsh(bigOne, 4090), bigOne)
	laws := map[string]*coarse{}
	for _, scaleBits := range []uint{10, 13, 20, 29, 40, 50, ratioBits + mostOffsetBits} {
		scale := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(3), scaleBits-1)) // 1.5·2^scaleBits
		scale.Mul(scale, new(big.Rat).SetFrac(new(big.Int).Add(odd, bigOne), odd))
		laws[fmt.Sprintf("laplace/2^%d", scaleBits)] = newSampler(false, scale).coarse
		laws[fmt.Sprintf("gaussian/2^%d", scaleBits)] = newSampler(true, new(big.Rat).Mul(scale, scale)).coarse
	}
	return laws
}

// bigRejected returns 1−exp(−x) for offset r of cell j, from the definition of x.
func bigRejected(c *coarse, j, r int64) *big.Float {
	side := new(big.Int).Lsh(bigOne, c.offsetBits)
	from := new(big.Int).Mul(big.NewInt(j), side)
	to := new(big.Int).Add(from, big.NewInt(r))
	x := new(big.Rat)
	if c.square {
		x.SetInt(to.Mul(to, to).Sub(to, from.Mul(from, from)))
		x.Quo(x.Mul(x, big.NewRat(1, 2)), c.parameter)
	} else {
		x.Quo(x.SetInt(to.Sub(to, from)), c.parameter)
	}
	return new(big.Float).SetPrec(bigPrecision).Sub(bigFloat(1), bigExpNeg(x))
}

// TestCoarseDrawsAreKeptWithTheExactProbability gives trials with every kind of V
// around 1−exp(−x): just below, the very prefix, which further bits decide, just
// above, and around the bound that decides at once. A trial that is not kept is
// followed by one that is and shows it.
func TestCoarseDrawsAreKeptWithTheExactProbability(t *testing.T) {
	tried, tied := 0, 0
	for name, c := range coarseLaws() {
		mask := int64(1)<<c.offsetBits - 1
		for _, j := range []int64{0, 1, 2, 77, 300, lastSure(c.cells)} {
			for _, r := range []int64{0, 1, 2, mask / 3, mask/2 + 1, mask - 1, mask} {
				rejected := bigRejected(c, j, r)
				length := 64 - int(c.offsetBits)
				tie := bitsOf(rejected, length).Int64()
				squeeze := int64((c.base + uint64(j)*c.slope) >> c.offsetBits)
				for _, v := range []int64{0, tie - 2, tie - 1, tie, tie + 1, tie + 2, squeeze - 1, squeeze, squeeze + 1, 1<<(length-1) + 5} {
					if v < 0 || v >= 1<<(length-1)+6 {
						continue
					}
					for _, further := range []uint64{0, 1 << 40, 1 << 63, ^uint64(0)} {
						assertTrial(t, name, c, j, r, v, further, rejected)
						tried++
						if v == tie {
							tied++
						}
					}
				}
			}
		}
	}
	t.Logf("%d trials, %d of them decided by further bits", tried, tied)
}

// assertTrial runs one trial with offset r of cell j, and a V of the bits of v and
// then those of further.
func assertTrial(t *testing.T, name string, c *coarse, j, r, v int64, further uint64, rejected *big.Float) {
	t.Helper()
	const sign = 1
	word := firstPrefix(c.cells, j)<<1 | sign
	kept := []uint64{0, ^uint64(0)} // the last offset of cell 0
	b := bitsFrom(append([]uint64{word, uint64(v)<<c.offsetBits | uint64(r)}, kept...), []uint64{further})
	var out [1]int64
	if err := c.fill(b, out[:]); err != nil {
		t.Fatal(err)
	}
	bits := new(big.Int).Lsh(big.NewInt(v), 64)
	bits.Or(bits, new(big.Int).SetUint64(further)) // zeros follow
	u := new(big.Float).SetPrec(bigPrecision).SetInt(bits)
	u.SetMantExp(u, int(c.offsetBits)-128)
	want := int64(1)<<c.offsetBits - 1
	if u.Cmp(rejected) >= 0 && (j > 0 || r > 0) { // else minus zero
		want = -(j<<c.offsetBits + r)
	}
	if out[0] != want {
		t.Fatalf("%s: cell %d, offset %d, V beginning %x‖%x against %.40g: got %d, want %d", name, j, r, v, further, rejected, out[0], want)
	}
}

// firstPrefix is the least prefix that gives cell j without further bits.
func firstPrefix(cells *table, j int64) uint64 {
	if j == 0 {
		return 0
	}
	return cells.thresholds[j-1] + 1
}

// lastSure is the last cell with such a prefix.
func lastSure(cells *table) int64 {
	j := int64(len(cells.thresholds)) - 1
	for firstPrefix(cells, j) >= cells.thresholds[j] {
		j--
	}
	return j
}

// TestApproximationIsWithinItsGuard compares 1−exp(−x) in words with many digits.
func TestApproximationIsWithinItsGuard(t *testing.T) {
	largest := new(big.Int)
	for name, c := range coarseLaws() {
		source := newBits(freshKey(t))
		last := uint64(len(c.cells.thresholds)) - 1
		if last >= 1<<14 || c.base+last*c.slope >= 1<<61 {
			t.Fatalf("%s: %d cells, x up to %x/2⁶⁴", name, last+1, c.base+last*c.slope) // the argument wants fewer than 2¹⁴, and x < 1/8
		}
		for i := range 300 {
			j, r := source.Below(last+1), source.Below(1<<c.offsetBits)
			if i < 3 {
				j, r = last, 1<<c.offsetBits-1-uint64(i)
			}
			exact := bitsOf(bigRejected(c, int64(j), int64(r)), 64)
			off := new(big.Int).SetUint64(c.approximately(j, r))
			if off.Sub(off, exact).Abs(off); off.Cmp(big.NewInt(guard/2)) >= 0 {
				t.Fatalf("%s: cell %d, offset %d: off by %v", name, j, r, off)
			}
			if off.Cmp(largest) > 0 {
				largest = off
			}
		}
	}
	t.Logf("off by at most %v of a guard of %d", largest, guard)
}

// TestCellsBeyondTheTableAreExact makes cells beyond the table by ties, where only
// the exact comparison decides.
func TestCellsBeyondTheTableAreExact(t *testing.T) {
	const ones = ^uint64(0)
	for _, square := range []bool{false, true} {
		c := newSampler(square, big.NewRat(1<<26, 1)).coarse
		r := int64(5)
		for _, v := range []uint64{0, ones >> c.offsetBits} {
			b := bitsFrom([]uint64{ones - 1, v<<c.offsetBits | uint64(r), 0, ones}, []uint64{ones, 0, 0, 0})
			var out [1]int64
			if err := c.fill(b, out[:]); err != nil {
				t.Fatal(err)
			}
			j := out[0] >> c.offsetBits
			if v == 0 && out[0] != 1<<c.offsetBits-1 {
				t.Errorf("square %v: V = 0 kept %d", square, out[0])
			}
			if v > 0 && (j <= int64(len(c.cells.thresholds)) || out[0]&(1<<c.offsetBits-1) != r) {
				t.Errorf("square %v: got %d, in cell %d of %d", square, out[0], j, len(c.cells.thresholds))
			}
		}
	}
}

// TestWideCellsAgree gives the same decisions to the loop for wide cells, which
// reads cell, offset and V from three words.
func TestWideCellsAgree(t *testing.T) {
	for name, c := range coarseLaws() {
		source := newBits(freshKey(t))
		for range 200 {
			word, r, v := source.Uint64(), source.Uint64()&(1<<c.offsetBits-1), source.Uint64()>>c.offsetBits
			narrow := bitsFrom([]uint64{word, v<<c.offsetBits | r, 0, ^uint64(0)}, nil)
			wide := bitsFrom([]uint64{word, r << (64 - c.offsetBits), v << c.offsetBits, 0, ^uint64(0), ^uint64(0)}, nil)
			var a, b [1]int64
			if err := c.fill(narrow, a[:]); err != nil {
				t.Fatal(err)
			}
			if err := c.fillWide(wide, b[:]); err != nil {
				t.Fatal(err)
			}
			if a != b {
				t.Fatalf("%s: %d and %d", name, a[0], b[0])
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
		{"σ = 2⁷⁰", AddDiscreteGaussian, new(big.Rat).Mul(limit, new(big.Rat).Mul(limit, big.NewRat(1<<16, 1))), 1 - 0.0031166},
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
