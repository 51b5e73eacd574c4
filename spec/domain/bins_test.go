package domain

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
)

// slowBin finds the bin of a float64 by comparing it with every edge, and with the exact decimal that it stands for,
// and fails if the two differ.
func slowBin(t *testing.T, b *bins, v float64) (int, Fit) {
	t.Helper()
	switch {
	case math.IsNaN(v):
		return 0, NaN
	case math.IsInf(v, 0):
		return 0, Infinite
	}
	code, fit := 0, OutOfDomain
	for k := range b.size() {
		low, high := float64(b.cuts[k])/float64(b.den), float64(b.cuts[k+1])/float64(b.den)
		if v >= low && (v < high || k == b.size()-1 && v == high) {
			code, fit = k, Fits
		}
	}
	if exact, exactFit := b.binOfQuantity(quantityOfFloat(v)); exact != code || exactFit != fit {
		t.Fatalf("%x among %d/%d…: %d, %v by edges, %d, %v exactly", v, b.cuts[0], b.den, code, fit, exact, exactFit)
	}
	return code, fit
}

// randomCuts returns ascending cuts, even or not. The last cell of even cuts may be shorter.
func randomCuts(random *rand.Rand) (cuts []int64, den int64) {
	den = []int64{1, 10, 100, 1000, 1e6, 1e12, 1e15}[random.IntN(7)]
	most := []int64{10, 1000, 1e6, 1e12, 1e15 - 1}[random.IntN(5)]
	at := random.Int64N(2*most) - most
	cuts = []int64{at}
	step := 1 + random.Int64N(max(most/20, 1))
	even, wide := random.IntN(2) == 0, random.IntN(2) == 0
	for range 1 + random.IntN(40) {
		next := step
		switch {
		case !even && wide && random.IntN(4) > 0:
			next = 1 + random.Int64N(3) // many close together, few far apart
		case !even:
			next = 1 + random.Int64N(2*step)
		}
		if at += next; at >= 1e15 {
			break
		}
		cuts = append(cuts, at)
	}
	if len(cuts) < 2 {
		return []int64{0, 1}, den
	}
	if last := len(cuts) - 1; even && random.IntN(3) == 0 {
		cuts[last] -= random.Int64N(cuts[last] - cuts[last-1])
	}
	return cuts, den
}

// The guess of a float64's stretch never changes its bin: at edges and their neighbours, for zeros of both signs,
// subnormals, NaN, infinities, and any other numbers.
func TestFloatsAreFoundWhereTheirEdgesSay(t *testing.T) {
	random := rand.New(rand.NewPCG(6, 6))
	guessed := map[bool]int{}
	for range 4000 {
		cuts, den := randomCuts(random)
		b := newBins(cuts, den, false)
		if !b.floats {
			t.Fatalf("%v/%d are not compared as floats", cuts, den)
		}
		guessed[b.guess.upTo == nil]++
		values := []float64{0, math.Copysign(0, -1), math.SmallestNonzeroFloat64, -math.SmallestNonzeroFloat64,
			0x1p-1022,
			-0x1p-1030,
			math.MaxFloat64, -math.MaxFloat64, 1e300, math.NaN(), math.Inf(1), math.Inf(-1),
			math.Float64frombits(random.Uint64())}
		first, last := float64(cuts[0])/float64(den), float64(cuts[len(cuts)-1])/float64(den)
		for range 20 {
			values = append(values, first+(last-first)*random.Float64())
		}
		for _, cut := range cuts {
			edge := float64(cut) / float64(den)
			values = append(values, edge, math.Nextafter(edge, math.Inf(1)), math.Nextafter(edge, math.Inf(-1)))
		}
		for _, v := range values {
			code, fit := b.binOfFloat(v)
			if want, wantFit := slowBin(t, b, v); code != want || fit != wantFit {
				t.Fatalf("%x among %v/%d: %d, %v, expected %d, %v", v, cuts, den, code, fit, want, wantFit)
			}
		}
	}
	if guessed[true] < 1000 || guessed[false] < 1000 {
		t.Errorf("even cuts and others are %v", guessed)
	}
}

// More cuts than a guess has stretches are found too, even if many lie close together.
func TestMoreCutsThanStretches(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	cuts := []int64{0, 1e14}
	for range 2 * mostStretches {
		cuts = append(cuts, random.Int64N(1e6), random.Int64N(1e14))
	}
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	b := newBins(cuts, 1000, false)
	if b.step != 0 || len(b.guess.upTo) > mostStretches+2 {
		t.Fatalf("%d stretches", len(b.guess.upTo))
	}
	for range 200_000 {
		k := random.IntN(len(cuts) - 1)
		v := float64(cuts[k]) / 1000
		want := k
		if random.IntN(2) == 0 {
			v = math.Nextafter(v, -1)
			want--
		}
		code, fit := b.binOfFloat(v)
		if want < 0 && fit != OutOfDomain || want >= 0 && (fit != Fits || code != want) {
			t.Fatalf("%x: %d, %v, expected %d", v, code, fit, want)
		}
	}
}

// A float64 is the category of its digits, whether it is whole or not, small or beyond the range of integers.
func TestFloatsAreCategoriesOfTheirDigits(t *testing.T) {
	values := []float64{0, 1, -7, 1<<53 - 1, 1 << 53, -1 << 53, 1<<53 + 2, 1e21, -1e300, 0.5, -1.25,
		math.SmallestNonzeroFloat64, 0x1p63, -0x1p63}
	texts := map[string]int{}
	for i, v := range values {
		texts[strconv.FormatFloat(v, 'f', -1, 64)] = i + 1
	}
	d := &Domain{codeOfText: texts}
	for want, v := range values {
		if code, fit := d.CodeOfFloat(v); code != want || fit != Fits {
			t.Errorf("%v: %d, %v, expected %d", v, code, fit, want)
		}
	}
	if code, fit := d.CodeOfFloat(math.Copysign(0, -1)); code != 0 || fit != Fits {
		t.Errorf("-0: %d, %v", code, fit)
	}
	for _, v := range []float64{2, -0.5, 1<<53 - 2, 1<<53 + 4, math.MaxFloat64} {
		if _, fit := d.CodeOfFloat(v); fit != OutOfDomain {
			t.Errorf("%v: %v", v, fit)
		}
	}
}
