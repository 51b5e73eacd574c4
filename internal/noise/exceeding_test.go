package noise

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/dprelease/dprelease/internal/testkit"
	"gonum.org/v1/gonum/stat/distuv"
)

// aboveLaw is a law with a threshold.
type aboveLaw struct {
	exactLaw
	above int64
}

func (l aboveLaw) String() string { return fmt.Sprintf("%s above %d", l.name, l.above) }

// exceeding is the sampler under test.
func (l aboveLaw) exceeding(t *testing.T) *Exceeding {
	t.Helper()
	of := ExceedingLaplace
	if l.square {
		of = ExceedingGaussian
	}
	e, err := of(l.parameter, l.above)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// aboveLaws have a threshold in the middle and in the tail of tables and of coarse samplers, and both ways to propose.
func aboveLaws() []aboveLaw {
	return []aboveLaw{
		{laplaceLaw(2), 5}, {laplaceLaw(1), 12}, {laplaceLaw(3000), 9000}, {laplaceLaw(0.5), 0},
		{gaussianLaw(3), 6}, {gaussianLaw(10), 3}, {gaussianLaw(2050), 6000}, {gaussianLaw(1), 4},
	}
}

// bigTail is P(X > above), worked out once for each law.
func (l aboveLaw) bigTail() *big.Float {
	name := fmt.Sprint(l.square, l.parameter, l.above)
	if bigTails[name] == nil {
		bigTails[name] = l.newBigTail()
	}
	return bigTails[name]
}

var bigTails = map[string]*big.Float{}

// newBigTail works it out from weights that are calculated one by one.
func (l aboveLaw) newBigTail() *big.Float {
	if !l.square { // closed form, as sums of wide laws are long
		rate := new(big.Rat).Inv(l.parameter)
		norm := new(big.Float).Add(bigFloat(1), bigExpNeg(rate))
		return new(big.Float).Quo(bigExpNeg(new(big.Rat).Mul(rate, new(big.Rat).SetInt64(l.above+1))), norm)
	}
	tail, all := bigFloat(0), bigFloat(1)
	for x := int64(1); ; x++ {
		w := bigExpNeg(new(big.Rat).Mul(l.magnitudes().rate, new(big.Rat).SetInt64(x*x)))
		if w.Sign() == 0 || w.MantExp(nil) < -420 {
			return tail.Quo(tail, all)
		}
		if x > l.above {
			tail.Add(tail, w)
		}
		all.Add(all, w).Add(all, w)
	}
}

// TestTailsAreExact holds enclosures of P(X > N) against sums in many more digits.
func TestTailsAreExact(t *testing.T) {
	for _, l := range []aboveLaw{{laplaceLaw(2), 5}, {laplaceLaw(1e6), 3}, {laplaceLaw(0.01), 40}, {gaussianLaw(3), 6},
		{gaussianLaw(100), 350}, {gaussianLaw(0.1), 0}, {gaussianLaw(1), 60}} {
		const precision = 320
		success := l.exceeding(t).successes.success(precision)
		unit := new(big.Float).SetMantExp(bigFloat(1), precision)
		exact := new(big.Float).Mul(l.bigTail(), unit)
		lo, hi := new(big.Float).SetInt(&success.lo), new(big.Float).SetInt(&success.hi)
		if lo.Cmp(exact) > 0 || hi.Cmp(exact) < 0 {
			t.Errorf("%v: P(X > N) is not enclosed", l)
		}
		if width := new(big.Int).Sub(&success.hi, &success.lo); width.BitLen() > 16 {
			t.Errorf("%v: the enclosure is %d bits wide", l, width.BitLen())
		}
	}
}

// TestBinomialThresholdsAreExact holds every threshold against coefficients and powers that are calculated one by one.
func TestBinomialThresholdsAreExact(t *testing.T) {
	testkit.SkipPassed(t)
	for _, l := range append(aboveLaws(), aboveLaw{laplaceLaw(1), 60}, aboveLaw{gaussianLaw(50), 0}) {
		of := l.exceeding(t).successes
		q, n := l.bigTail(), int64(1)<<of.trialBits
		mean, _ := new(big.Float).Mul(q, new(big.Float).SetInt64(n)).Float64()
		if mean > mostMean || of.trialBits < mostTrialBits && 2*mean <= mostMean*(1-1e-9) {
			t.Errorf("%v: %v cells of a block exceed on the mean", l, mean)
		}
		rest := new(big.Float).Sub(bigFloat(1), q)
		power := bigFloat(1) // (1−q)^n, through ⌊log⌋ squarings as n is a power of 2
		power.Set(rest)
		for range of.trialBits {
			power.Mul(power, power)
		}
		sum, coefficient := bigFloat(0), big.NewInt(1)
		for k := range int64(len(of.thresholds)) {
			// power is q^k (1−q)^(n−k), coefficient C(n, k).
			sum.Add(sum, new(big.Float).SetPrec(bigPrecision).Mul(power, new(big.Float).SetInt(coefficient)))
			power.Mul(power, q).Quo(power, rest)
			coefficient.Mul(coefficient, big.NewInt(n-k)).Quo(coefficient, big.NewInt(k+1))
			if want := bitsOf(sum, 64); !want.IsUint64() || of.thresholds[k] != want.Uint64() {
				t.Fatalf("%v: ⌊2⁶⁴·F(%d)⌋ = %x, want %x", l, k, of.thresholds[k], want)
			}
		}
		if of.thresholds[len(of.thresholds)-1] != math.MaxUint64 {
			t.Errorf("%v: the last threshold is not the largest word", l)
		}
	}
}

// TestBinomialTiesAreSettled walks through all prefixes of 9 bits: the count is certain where all U of the prefix lie
// between two values of F, and nowhere else.
func TestBinomialTiesAreSettled(t *testing.T) {
	const length = 9
	for _, l := range []aboveLaw{{laplaceLaw(2), 5}, {laplaceLaw(0.5), 0}, {gaussianLaw(3), 6}, {gaussianLaw(1), 4}} {
		of := l.exceeding(t).successes
		unsettled := 0
		for prefix := range uint64(1 << length) {
			first, last := prefix<<(64-length), (prefix+1)<<(64-length)-1
			want := slices.IndexFunc(of.thresholds, func(f uint64) bool { return f >= first })
			k, certain := of.locatePrefix(new(big.Int).SetUint64(prefix), length)
			inside := of.thresholds[want] >= last // but for a threshold in the very last place, which takes more bits
			switch {
			case certain && (!inside || k != want):
				t.Fatalf("%v: prefix %x gives %d", l, prefix, k)
			case !certain && inside && of.thresholds[want] != last:
				t.Fatalf("%v: prefix %x gives nothing", l, prefix)
			case !certain:
				unsettled++
			}
		}
		if unsettled == 0 {
			t.Errorf("%v: no prefix is a tie", l)
		}
	}
}

// exceeded is a cell that exceeds: its place among all cells and its noise.
type exceeded struct {
	place uint64
	noise int64
}

// drawer draws the exceeding cells of one stretch.
type drawer func(b *Bits, stretch uint64) ([]exceeded, error)

func sparsely(e *Exceeding) drawer {
	return func(b *Bits, _ uint64) (out []exceeded, err error) {
		err = e.Draw(b, func(place uint64, noise int64) { out = append(out, exceeded{place, noise}) })
		return out, err
	}
}

// densely looks every cell up.
func densely(l aboveLaw) drawer {
	return func(b *Bits, stretch uint64) (out []exceeded, err error) {
		block := make([]int64, min(stretch, BlockCells))
		for from := uint64(0); from < stretch; from += uint64(len(block)) {
			if err := production(l.exactLaw)(b, block); err != nil {
				return nil, err
			}
			for i, x := range block {
				if x > l.above {
					out = append(out, exceeded{from + uint64(i), x})
				}
			}
		}
		return out, nil
	}
}

// judge draws stretches and returns the least of the p values of all checks, with its name: how many cells of a block
// exceed, where they are, what noise they have, and noise against place.
func judge(t *testing.T, l aboveLaw, e *Exceeding, stretches int, draw drawer) (least float64, worst string) {
	t.Helper()
	side := uint64(1) << e.successes.trialBits
	var all []exceeded
	perBlock := map[uint64]int{}
	streams := NewStreams(freshKey(t), "exceeding")
	for s := range stretches {
		drawn, err := draw(streams.Empty([]byte(l.String()), nil, s), e.CellsPerStream())
		if err != nil {
			t.Fatal(err)
		}
		for i, x := range drawn {
			if i > 0 && x.place <= drawn[i-1].place {
				return 0, "ascending places"
			}
			x.place += uint64(s) * e.CellsPerStream()
			all = append(all, x)
			perBlock[x.place/side]++
		}
	}
	q, _ := l.bigTail().Float64()
	blocks := uint64(stretches) * e.CellsPerStream() / side
	counts := make([]float64, 8*mostMean)
	counts[0] = float64(blocks) - float64(len(perBlock))
	for _, n := range perBlock {
		counts[n]++
	}
	checks := map[string]float64{"how many": chiSquare(counts, float64(blocks), func(k int) float64 {
		lead, _ := math.Lgamma(float64(side) + 1)
		own, _ := math.Lgamma(float64(k) + 1)
		rest, _ := math.Lgamma(float64(side) - float64(k) + 1)
		return math.Exp(lead - own - rest + float64(k)*math.Log(q) + (float64(side)-float64(k))*math.Log1p(-q))
	})}
	const parts = 64
	high, low := make([]float64, parts), make([]float64, parts)
	width := math.Max(1, l.scale/8)
	noise, apart := make([]float64, 4096), make([]float64, 16)
	middle := l.above + 1 + int64(l.scale/2)
	upper := 0.0
	for _, x := range all {
		high[x.place%side*parts/side]++
		low[x.place%parts]++
		noise[min(int((float64(x.noise-l.above-1))/width), len(noise)-1)]++
		cell := x.place % side * 8 / side
		if x.noise >= middle {
			cell += 8
			upper++
		}
		apart[cell]++
	}
	n := float64(len(all))
	even := func(int) float64 { return 1.0 / parts }
	checks["place, high bits"], checks["place, low bits"] = chiSquare(high, n, even), chiSquare(low, n, even)
	beyond := l.beyond()
	from := func(i int) float64 { return math.Ceil(float64(i)*width) + float64(l.above) + 1 }
	checks["noise"] = chiSquare(noise, n, func(i int) float64 {
		if i == len(noise)-1 {
			return beyond(from(i)) / q
		}
		return (beyond(from(i)) - beyond(from(i+1))) / q
	})
	share := upper / n
	checks["noise by place"] = chiSquare(apart, n, func(i int) float64 {
		if i >= 8 {
			return share / 8
		}
		return (1 - share) / 8
	})
	least = 1
	for name, p := range checks {
		if p < least {
			least, worst = p, name
		}
	}
	return least, worst
}

// chiSquare is the probability that counts of n draws deviate from a law as much, categories of few put together.
func chiSquare(counts []float64, n float64, law func(i int) float64) float64 {
	var statistic, have, want, left float64
	cells := 0
	left = 1
	for i, c := range counts {
		p := law(i)
		have, want, left = have+c, want+n*p, left-p
		if want >= 50 && n*left >= 50 {
			statistic += (have - want) * (have - want) / want
			have, want = 0, 0
			cells++
		}
	}
	want = math.Max(want+n*math.Max(left, 0), 1e-9) // with all that no draw reached
	statistic += (have - want) * (have - want) / want
	return distuv.ChiSquared{K: math.Max(float64(cells), 1)}.Survival(statistic)
}

// judged is how many exceeding cells are judged, about.
const judged = 150_000

func stretchesOf(e *Exceeding, l aboveLaw) int {
	q, _ := l.bigTail().Float64()
	return int(math.Ceil(judged / q / float64(e.CellsPerStream())))
}

// TestExceedingCellsHaveTheDenseLaw holds them against the exact law that cells with a draw each have: a run of an
// exact sampler fails with probability 1e-9 per check, 40 in all. Cells that are looked up one by one pass the same
// checks.
func TestExceedingCellsHaveTheDenseLaw(t *testing.T) {
	for _, l := range aboveLaws() {
		e := l.exceeding(t)
		if p, worst := judge(t, l, e, stretchesOf(e, l), sparsely(e)); p < 1e-9 {
			t.Errorf("%v: %s has probability %g", l, worst, p)
		}
	}
	for _, l := range []aboveLaw{{laplaceLaw(2), 5}, {gaussianLaw(3), 6}} {
		e := l.exceeding(t)
		if p, worst := judge(t, l, e, stretchesOf(e, l), densely(l)); p < 1e-9 {
			t.Errorf("%v, cell by cell: %s has probability %g", l, worst, p)
		}
	}
}

// TestWrongExceedingCellsAreNoticed runs samplers with one mistake each through the same checks.
func TestWrongExceedingCellsAreNoticed(t *testing.T) {
	testkit.SkipPassed(t)
	for _, l := range []aboveLaw{{laplaceLaw(2), 5}, {gaussianLaw(3), 6}, {gaussianLaw(10), 3}, {gaussianLaw(0.6), 0}} {
		honest := l.exceeding(t)
		mutant := func(change func(*Exceeding)) drawer {
			wrong := *honest
			change(&wrong)
			return sparsely(&wrong)
		}
		for name, draw := range map[string]drawer{
			"a threshold one too high": sparsely(aboveLaw{l.exactLaw, l.above + 1}.exceeding(t)),
			"as many as above the next threshold": mutant(func(e *Exceeding) {
				next := aboveLaw{l.exactLaw, l.above + 1}.exceeding(t)
				e.successes.thresholds = newBinomial(honest.successes.trialBits, next.successes.success).thresholds
			}),
			"a tail that is not conditional": mutant(func(e *Exceeding) {
				e.exponent, e.proposals = nil, samplers.samplerOf(!l.square, l.parameter)
			}),
			"noise as above the next threshold": mutant(func(e *Exceeding) { e.first++ }),
			"places with repetition": func(b *Bits, stretch uint64) (out []exceeded, err error) {
				side := uint64(1) << honest.successes.trialBits
				for from := uint64(0); from < stretch; from += side {
					var places []uint64
					for range honest.successes.drawCount(b) {
						places = append(places, b.Uint64()>>(64-honest.successes.trialBits))
					}
					slices.Sort(places)
					for _, place := range slices.Compact(places) { // one of them is lost
						out = append(out, exceeded{from + place, l.above + 1})
					}
				}
				all, err := sparsely(honest)(b, stretch)
				for i := range min(len(out), len(all)) {
					out[i].noise = all[i].noise
				}
				return out, err
			},
		} {
			times := 2
			if name == "places with repetition" { // few are lost
				times = 16
			}
			if p, _ := judge(t, l, honest, times*stretchesOf(honest, l), draw); p > 1e-9 {
				t.Errorf("%v: %s is not noticed (%g)", l, name, p)
			}
		}
	}
}

// TestExceedingIsRefused lists what there is no law of.
func TestExceedingIsRefused(t *testing.T) {
	one := big.NewRat(1, 1)
	for _, above := range []int64{-1, 1<<61 + 1} {
		if _, err := ExceedingLaplace(one, above); err == nil {
			t.Errorf("a threshold of %d is taken", above)
		}
		if _, err := ExceedingGaussian(one, above); err == nil {
			t.Errorf("a threshold of %d is taken", above)
		}
	}
	if _, err := ExceedingGaussian(big.NewRat(1<<32, 1), 5); !errors.Is(err, ErrTooWide) {
		t.Errorf("σ = 2¹⁶ gives %v", err)
	}
	if _, err := ExceedingLaplace(big.NewRat(-1, 1), 5); err == nil {
		t.Error("a scale below zero is taken")
	}
}

func BenchmarkExceeding(b *testing.B) {
	for _, l := range []aboveLaw{{laplaceLaw(2), 30}, {gaussianLaw(10), 40}, {gaussianLaw(2050), 6000}} {
		b.Run(l.String(), func(b *testing.B) {
			of := ExceedingLaplace
			if l.square {
				of = ExceedingGaussian
			}
			e, err := of(l.parameter, l.above)
			if err != nil {
				b.Fatal(err)
			}
			cells := 0
			stream := newBits([32]byte{1})
			for b.Loop() {
				if err := e.Draw(stream, func(uint64, int64) { cells++ }); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(cells), "ns/exceeding-cell")
			b.ReportMetric(float64(e.CellsPerStream()), "cells/stretch")
		})
	}
}

// TestThresholdsAreFoundWhereHalfExceed has q as near to ½ as a parameter allows.
func TestThresholdsAreFoundWhereHalfExceed(t *testing.T) {
	e, err := ExceedingLaplace(new(big.Rat).SetInt(new(big.Int).Lsh(bigOne, 400)), 0)
	if err != nil {
		t.Fatal(err)
	}
	if got := e.CellsPerStream(); got != 1<<(leastTrialBits+streamBits) {
		t.Errorf("a stretch has %d cells", got)
	}
}
