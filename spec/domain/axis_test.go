package domain

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"testing"
)

// TestCellsAreExact compares the cell of every kind of number with comparisons of exact fractions.
func TestCellsAreExact(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, of := range []struct {
		low, high string
		n         int
	}{{"-87.95", "-87.52", 64}, {"-1/3", "1", 3}, {"-180", "180", 360}, {"0", "1e-7", 10}, {"41.64", "42.03", 4096},
		{"-0.1", "0.2", 3}, {"-90", "90", 1}} {
		low, _ := new(big.Rat).SetString(of.low)
		high, _ := new(big.Rat).SetString(of.high)
		a, err := newAxis(low, high, of.n)
		if err != nil {
			t.Fatal(err)
		}
		width := new(big.Rat).Quo(new(big.Rat).Sub(high, low), new(big.Rat).SetInt64(int64(of.n)))
		want := func(x *big.Rat) int {
			if x.Cmp(low) < 0 || x.Cmp(high) > 0 {
				return -1
			}
			cells := new(big.Rat).Quo(new(big.Rat).Sub(x, low), width)
			return min(int(new(big.Int).Quo(cells.Num(), cells.Denom()).Int64()), of.n-1)
		}
		check := func(v float64) {
			t.Helper()
			text := strconv.FormatFloat(v, 'f', -1, 64)
			x, _ := new(big.Rat).SetString(text)
			if got := a.OfFloat(v); got != want(x) {
				t.Errorf("%s of [%s, %s]: %d, want %d", text, of.low, of.high, got, want(x))
			}
			if got := a.OfText(text); got != want(x) {
				t.Errorf("%q of [%s, %s]: %d, want %d", text, of.low, of.high, got, want(x))
			}
		}
		from, _ := low.Float64()
		to, _ := high.Float64()
		for k := range of.n + 1 { // the edges, and their neighbours on both sides
			edge, _ := new(big.Rat).Add(low, new(big.Rat).Mul(width, new(big.Rat).SetInt64(int64(k)))).Float64()
			for _, v := range []float64{edge, math.Nextafter(edge, -1000), math.Nextafter(edge, 1000)} {
				check(v)
			}
		}
		for range 2000 {
			check(from + (to-from)*(random.Float64()*1.2-0.1))
		}
		for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, -math.MaxFloat64, 1e300} {
			if a.OfFloat(v) != -1 {
				t.Errorf("%v has a cell", v)
			}
		}
		for v := int64(-200); v <= 200; v++ {
			x := new(big.Rat).SetInt64(v)
			if a.OfInt(v) != want(x) || a.OfDecimal(big.NewInt(v*1000), 3) != want(x) ||
				a.OfSmallDecimal(v*1000, 3) != want(x) {
				t.Errorf("%d: %d and %d, want %d", v, a.OfInt(v), a.OfDecimal(big.NewInt(v*1000), 3), want(x))
			}
		}
		for _, text := range []string{"", "x", "1,5", "NaN", "0x1p3", " 0"} {
			if a.OfText(text) != -1 {
				t.Errorf("%q has a cell", text)
			}
		}
	}
}
