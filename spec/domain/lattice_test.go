package domain

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"testing"

	"github.com/dprelease/dprelease/spec/document"
	"pgregory.net/rapid"
)

// roundedAndClamped returns ⌊x/step + 1/2⌋, clamped to first and last: the definition, in exact arithmetic.
func roundedAndClamped(x, step *big.Rat, first, last int64) int64 {
	place := new(big.Rat).Quo(x, step)
	place.Add(place, big.NewRat(1, 2))
	floor := new(big.Int).Div(place.Num(), place.Denom())
	switch {
	case floor.Cmp(big.NewInt(first)) < 0:
		return first
	case floor.Cmp(big.NewInt(last)) > 0:
		return last
	}
	return floor.Int64()
}

// drawLattice draws a lattice, with steps that are common in specs and others.
func drawLattice(t *rapid.T) *Lattice {
	step := rapid.SampledFrom([]*big.Rat{
		big.NewRat(1, 1), big.NewRat(1000, 1), big.NewRat(7, 1), big.NewRat(1, 100), big.NewRat(1, 2), big.NewRat(1, 3),
		big.NewRat(5, 2),
		big.NewRat(22, 7), big.NewRat(1, 1_000_000_007), big.NewRat(1_000_000_007, 1), big.NewRat(document.MaxWhole, 1),
		big.NewRat(1, document.MaxWhole),
		big.NewRat(999_999_999_999_999_989, 1000), big.NewRat(1, 1_000_000_000_000_000_000),
	}).Draw(t, "step")
	ends := rapid.SampledFrom([]int64{0, 1, 9, 110, 99_999, 1 << 40, document.MaxWhole})
	first, last := -ends.Draw(t, "first"), ends.Draw(t, "last")
	l := newLattice(step, first, last)
	if rapid.Bool().Draw(t, "not read from a spec") {
		l = &Lattice{Step: step, First: first, Last: last}
	}
	if rapid.Bool().Draw(t, "strata") {
		l.By = "size"
		l.Strata = []Stratum{{first, 0}, {0, last}, {first, last}}
	}
	return l
}

// drawNearHalf draws an exact decimal, often half way between two lattice points or next to that.
func drawNearHalf(t *rapid.T, l *Lattice) (unscaled *big.Int, scale int) {
	scale = rapid.IntRange(-3, 24).Draw(t, "scale")
	at := new(big.Rat).Mul(l.Step, new(big.Rat).SetFrac64(rapid.Int64Range(-250, 250).Draw(t, "halves"), 2))
	if rapid.Bool().Draw(t, "an end") {
		at.Add(at, l.Value(rapid.SampledFrom([]int64{l.First, l.Last}).Draw(t, "end")))
	}
	power := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(scale, -scale))), nil))
	if scale < 0 {
		power.Inv(power)
	}
	at.Mul(at, power)
	unscaled = new(big.Int).Div(at.Num(), at.Denom())
	unscaled.Add(unscaled, big.NewInt(rapid.Int64Range(-2, 2).Draw(t, "beside")))
	if rapid.Bool().Draw(t, "anywhere") {
		unscaled.SetInt64(rapid.Int64().Draw(t, "unscaled"))
	}
	return unscaled, scale
}

// TestPlacesAreTheNearest compares the index of every kind of value with the definition in exact arithmetic.
func TestPlacesAreTheNearest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := drawLattice(t)
		stratum := rapid.IntRange(NoStratum, 2).Draw(t, "stratum")
		first, last := l.First, l.Last
		if l.By != "" && stratum >= 0 {
			first, last = l.Strata[stratum].First, l.Strata[stratum].Last
		}
		unscaled, scale := drawNearHalf(t, l)
		x := new(big.Rat).SetInt(unscaled)
		power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(scale, -scale))), nil)
		if scale >= 0 {
			x.Quo(x, new(big.Rat).SetInt(power))
		} else {
			x.Mul(x, new(big.Rat).SetInt(power))
		}
		want := roundedAndClamped(x, l.Step, first, last)
		text := fmt.Sprintf("%se%d", unscaled, -scale)
		if got, fit := l.IndexOfText(text, stratum); got != want || fit != Fits {
			t.Fatalf("text %s: place %d, %v, want %d", text, got, fit, want)
		}
		if unscaled.BitLen() < 127 {
			twos := new(big.Int).Set(unscaled)
			if twos.Sign() < 0 {
				twos.Add(twos, new(big.Int).Lsh(big.NewInt(1), 128))
			}
			low := new(big.Int).And(twos, new(big.Int).SetUint64(math.MaxUint64)).Uint64()
			high := int64(twos.Rsh(twos, 64).Uint64())
			if got := l.IndexOfDecimal(high, low, int32(scale), stratum); got != want {
				t.Fatalf("decimal %s: place %d, want %d", text, got, want)
			}
		}
		if x.IsInt() && x.Num().IsInt64() {
			if got := l.IndexOfInt(x.Num().Int64(), stratum); got != want {
				t.Fatalf("integer %s: place %d, want %d", x.Num(), got, want)
			}
		}
		v, _ := x.Float64()
		v = rapid.SampledFrom([]float64{v, math.Nextafter(v, math.Inf(1)), math.Nextafter(v, math.Inf(-1)),
			-v}).Draw(t, "v")
		shortest, _ := new(big.Rat).SetString(strconv.FormatFloat(v, 'g', -1, 64))
		got, fit := l.IndexOfFloat(v, stratum)
		if want := roundedAndClamped(shortest, l.Step, first, last); got != want || fit != Fits {
			t.Fatalf("float %v: place %d, %v, want %d", v, got, fit, want)
		}
		if once := l.Clamp(l.Clamp(got, NoStratum), stratum); once != got {
			t.Fatalf("clamped twice %d is %d", got, once)
		}
	})
}

// TestPlacesOfLongAndLargeNumbers compares every path through the arithmetic with the definition.
func TestPlacesOfLongAndLargeNumbers(t *testing.T) {
	var steps []*big.Rat
	for _, text := range []string{"1", "7", "1/3", "1e-18", "1/2305843009213693952", "2305843009213693952",
		"1000000000000000003", "999999999999999989/1000"} {
		step, _ := new(big.Rat).SetString(text)
		steps = append(steps, step)
	}
	for _, text := range []string{
		"18446744073709551615", "18446744073709551616", "9223372036854775807.5", "9223372036854775808", "1e18",
		"4.5e18",
		"1e-18", "0.4999999999999999999",
		"0.000000000000000000000000001", "123456789012345678901234567890", "1234567890.123456789012345678", "1e59",
		"1e60",
		"1e61", "1e-59", "1e-60", "1e-61", "1e-62",
		"1152921504606846976", "3458764513820540928", "500000000000000001.5",
	} {
		for _, sign := range []string{"", "-"} {
			x, _ := new(big.Rat).SetString(sign + text)
			for _, step := range steps {
				l := newLattice(step, -document.MaxWhole, document.MaxWhole)
				want := roundedAndClamped(x, step, -document.MaxWhole, document.MaxWhole)
				if got, fit := l.IndexOfText(sign+text, NoStratum); got != want || fit != Fits {
					t.Errorf("%s%s in steps of %s: place %d, %v, want %d", sign, text, step.RatString(), got, fit, want)
				}
			}
		}
	}
}

// Halves are rounded up, also below 0: a tie must not depend on the kind of value, or two formats of one file would
// give different results.
func TestHalvesGoUp(t *testing.T) {
	l := newLattice(big.NewRat(1, 2), -100, 100)
	for text, want := range map[string]int64{
		"0": 0, "-0": 0, "0.25": 1, "-0.25": 0, "0.2499999999999999999999": 0, "-0.2500000000000000000001": -1,
		"0.75":  2,
		"-0.75": -1,
		"1.25":  3, "-1.25": -2, "49.74": 99, "50": 100, "1e300": 100, "-1e300": -100, "1e-300": 0, "-1e-300": 0,
		"-1e-100000": 0, "1e100000": 100,
	} {
		if got, fit := l.IndexOfText(text, NoStratum); got != want || fit != Fits {
			t.Errorf("text %s: place %d, %v, want %d", text, got, fit, want)
		}
		if v, err := strconv.ParseFloat(text, 64); err == nil && len(text) < 10 {
			if got, _ := l.IndexOfFloat(v, NoStratum); got != want {
				t.Errorf("float %s: place %d, want %d", text, got, want)
			}
		}
	}
}

// A float64 stands for its shortest decimal: 0.145 in steps of 0.01 is a half, and is rounded up, whether its bits are
// below or above that decimal.
func TestFloatsAreTheirShortestDecimals(t *testing.T) {
	l := newLattice(big.NewRat(1, 100), -1_000_000, 1_000_000)
	for v, want := range map[float64]int64{0.145: 15, 0.155: 16, 0.285: 29, 1.005: 101, -0.145: -14, 2.675: 268,
		1e-320: 0,
		5e-324: 0, 9999.995: 1_000_000} {
		if got, _ := l.IndexOfFloat(v, NoStratum); got != want {
			t.Errorf("%v: place %d, want %d", v, got, want)
		}
	}
}

func TestWhatIsNoNumberHasNoPlace(t *testing.T) {
	l := newLattice(big.NewRat(1, 1), -3, 5)
	for _, text := range []string{"", " 1", "1 ", "1,5", "0x1", "1/2", "NaN", "inf", "one", "--1", "1e", "."} {
		if _, fit := l.IndexOfText(text, NoStratum); fit != NotANumber {
			t.Errorf("%q: %v", text, fit)
		}
	}
	if _, fit := l.IndexOfFloat(math.NaN(), NoStratum); fit != NaN {
		t.Errorf("NaN: %v", fit)
	}
	for v, want := range map[float64]int64{math.Inf(1): 5, math.Inf(-1): -3, math.MaxFloat64: 5, -math.MaxFloat64: -3} {
		if got, fit := l.IndexOfFloat(v, NoStratum); got != want || fit != Fits {
			t.Errorf("%v: place %d, %v, want %d", v, got, fit, want)
		}
	}
	for v, want := range map[int64]int64{math.MaxInt64: 5, math.MinInt64: -3} {
		if got := l.IndexOfInt(v, NoStratum); got != want {
			t.Errorf("%d: place %d, want %d", v, got, want)
		}
	}
}

// A null that counts as a number is clamped to the stratum of its row.
func TestNullsAreClamped(t *testing.T) {
	l := newLattice(big.NewRat(1, 1), 0, 100)
	l.By, l.Strata, l.null = "size", []Stratum{{0, 10}, {50, 100}}, 20
	if small, large := l.IndexOfNull(0), l.IndexOfNull(1); small != 10 || large != 50 {
		t.Errorf("places %d and %d", small, large)
	}
}

func TestPlacesDoNotAllocate(t *testing.T) {
	l := newLattice(big.NewRat(1, 100), -100, 100_000)
	for name, place := range map[string]func(){
		"an integer": func() { l.IndexOfInt(17, NoStratum) },
		"a float":    func() { l.IndexOfFloat(12.345, NoStratum) },
		"a decimal":  func() { l.IndexOfDecimal(-1, math.MaxUint64-55, 2, NoStratum) },
		"a text":     func() { l.IndexOfText("-12.345", NoStratum) },
	} {
		if n := testing.AllocsPerRun(100, place); n != 0 {
			t.Errorf("the place of %s takes %v allocations", name, n)
		}
	}
}

func BenchmarkPlaces(b *testing.B) {
	l := newLattice(big.NewRat(1, 100), 0, 10_000_000)
	thousands := newLattice(big.NewRat(1000, 1), 0, 1_000_000)
	b.Run("float", func(b *testing.B) {
		v := 0.01
		for b.Loop() {
			l.IndexOfFloat(v, NoStratum)
			v += 12.37
		}
	})
	b.Run("integer", func(b *testing.B) {
		v := int64(1)
		for b.Loop() {
			thousands.IndexOfInt(v, NoStratum)
			v += 1237
		}
	})
	b.Run("decimal", func(b *testing.B) {
		v := uint64(1)
		for b.Loop() {
			l.IndexOfDecimal(0, v, 2, NoStratum)
			v += 1237
		}
	})
	b.Run("text", func(b *testing.B) {
		for b.Loop() {
			l.IndexOfText("1234.56", NoStratum)
		}
	})
}
