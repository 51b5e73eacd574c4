package noise

import (
	"math"
	"math/big"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/dprelease/dprelease/internal/testkit"

	"gonum.org/v1/gonum/stat/distuv"
)

// skellamHolders and skellamVariances are the laws of shares that the tests of this file go through.
var (
	skellamHolders   = []int{1, 2, 3, 10}
	skellamVariances = []float64{0.25, 1, 4, 20, 400}
)

// meanOf is the mean of each of the two Poisson variables of a share.
func meanOf(variance float64, holders int) *big.Rat {
	mean := new(big.Rat).SetFloat64(variance)
	return mean.Mul(mean, big.NewRat(1, 2*int64(holders)))
}

// forEachSkellam runs a test for every law of a share.
func forEachSkellam(t *testing.T, test func(t *testing.T, variance float64, holders int)) {
	t.Helper()
	for _, variance := range skellamVariances {
		for _, holders := range skellamHolders {
			t.Run("variance="+strconv.FormatFloat(variance, 'g', -1, 64)+"/holders="+strconv.Itoa(holders),
				func(t *testing.T) { test(t, variance, holders) })
		}
	}
}

// bigPoisson returns P(N ≤ n) for n = 0, 1, …, until it is within 2^−bits of 1. The first weight is e^(−λ): unlike the
// tables it divides by no sum.
func bigPoisson(mean *big.Rat, bits int) []*big.Float {
	lambda := new(big.Float).SetPrec(bigPrecision).SetRat(mean)
	floor, _ := lambda.Int64()
	weight, sum := bigExpNeg(mean), bigFloat(0)
	var cumulative []*big.Float
	for n := int64(0); n <= floor || weight.MantExp(nil) > -bits-64; n++ {
		sum.Add(sum, weight)
		cumulative = append(cumulative, new(big.Float).Copy(sum))
		weight.Mul(weight, lambda).Quo(weight, bigFloat(float64(n+1)))
	}
	return cumulative
}

// poissonProbabilities returns the law of N that a table draws from but for ties, from n = 0 on.
func poissonProbabilities(table *shareTable) []float64 {
	return append(make([]float64, table.first), probabilitiesOf(table)...)
}

// TestPoissonThresholdsAreExact compares every threshold bit for bit with sums of e^(−λ)·λⁿ/n!.
func TestPoissonThresholdsAreExact(t *testing.T) {
	means := []*big.Rat{big.NewRat(1, 1<<40), big.NewRat(998244353, 1000000007), big.NewRat(1, 3), big.NewRat(1000, 1),
		big.NewRat(123456789, 10000), big.NewRat(1<<16+1, 1)}
	for _, variance := range skellamVariances {
		for _, holders := range skellamHolders {
			means = append(means, meanOf(variance, holders))
		}
	}
	entries := 0
	for _, mean := range means {
		table := newShareTable(poisson{mean}, shareBits)
		got, want := table.thresholds, bigPoisson(mean, 70)
		for n, f := range want[:table.first] {
			if bitsOf(f, shareBits).Sign() > 0 {
				t.Fatalf("mean %v: threshold %d is above 0 and left out", mean, n)
			}
		}
		for i := range got {
			exact := ^uint64(0)
			if n := int(table.first) + i; n < len(want) {
				if floor := bitsOf(want[n], shareBits); floor.BitLen() <= shareBits {
					exact = floor.Uint64()
				}
			}
			if got[i] != exact {
				t.Fatalf("mean %v: threshold %d is %x, want %x", mean, int(table.first)+i, got[i], exact)
			}
		}
		if last := len(got) - 1; got[last] != ^uint64(0) || last > 0 && got[last-1] == got[last] {
			t.Errorf("mean %v: the last threshold is %x", mean, got[last])
		}
		entries += len(got)
	}
	t.Logf("%d thresholds", entries)
}

// TestSkellamSharesOfAllHoldersAreSkellam convolves the law of the thresholds with itself, once for every holder, and
// compares the difference of two such sums with the Bessel functions' law.
func TestSkellamSharesOfAllHoldersAreSkellam(t *testing.T) {
	forEachSkellam(t, func(t *testing.T, variance float64, holders int) {
		one := poissonProbabilities(newShareTable(poisson{meanOf(variance, holders)}, shareBits))
		want := besselLaw(variance, 40+int(12*math.Sqrt(variance)))
		if worst := worstFromSkellam(one, want, holders); worst > 1e-12 {
			t.Errorf("a probability is off by %g", worst)
		}
		if worst := worstFromSkellam(one, want, holders+1); worst < 5e-4 {
			t.Errorf("with a share more a probability is off by no more than %g", worst)
		}
	})
}

// besselLaw returns e^(−μ)·I_x(μ) for x from 0 to last, by its integral (1/π)·∫ e^(μ(cos θ − 1))·cos xθ dθ over [0, π]
// and the trapezoid rule, which is exact but for aliases x + 2kn.
func besselLaw(variance float64, last int) []float64 {
	law := make([]float64, last+1)
	n := 8 * (last + 1)
	for x := range law {
		sum := (1 + math.Exp(-2*variance)*math.Pow(-1, float64(x))) / 2
		for k := 1; k < n; k++ {
			theta := math.Pi * float64(k) / float64(n)
			sum += math.Exp(-2*variance*math.Pow(math.Sin(theta/2), 2)) * math.Cos(float64(x)*theta)
		}
		law[x] = sum / float64(n)
	}
	return law
}

// worstFromSkellam returns by how much the probabilities of a sum of shares differ from a law at most, where N has a
// given law.
func worstFromSkellam(one, want []float64, shares int) (worst float64) {
	sum := []float64{1}
	for range shares {
		next := make([]float64, len(sum)+len(one)-1)
		for i, p := range sum {
			for j, q := range one {
				next[i+j] += p * q
			}
		}
		for len(next) > 1 && next[len(next)-1] < 1e-30 {
			next = next[:len(next)-1]
		}
		sum = next
	}
	for x, w := range want {
		difference := 0.0 // P(X = x) = P(X = −x)
		for n := range max(0, len(sum)-x) {
			difference += sum[n] * sum[n+x]
		}
		worst = max(worst, math.Abs(difference-w))
	}
	return worst
}

// drawnSkellam is what a holder draws.
func drawnSkellam(variance float64, holders int) fillFunc {
	parameter := new(big.Rat).SetFloat64(variance)
	return func(b *Bits, out []int64) error {
		clear(out)
		return AddSkellamShare(b, parameter, holders, out)
	}
}

// shortSkellam draws by prefixes of so few bits that a large share of draws needs more.
func shortSkellam(variance float64, length uint) fillFunc {
	table := newShareTable(poisson{meanOf(variance, 1)}, length)
	return func(b *Bits, out []int64) error {
		words := make([]uint64, 2*len(out))
		for i := range words {
			words[i] = b.Uint64() &^ (^uint64(0) >> length)
		}
		table.fill(&Bits{keystream: &fixedWords{words}, next: bufferBytes, aside: b.SecondStream()}, out)
		return nil
	}
}

// skellamSample holds draws against the law of Skellam noise.
type skellamSample struct {
	law           []float64 // P(X = x) for x ≥ 0
	counts        map[int64]int
	draws         int
	mean, squares float64 // standard errors by which they are off
	neighbours    float64
	chiSquareTail float64
}

// drawSkellam draws n times.
func drawSkellam(t *testing.T, variance float64, n int, streams *Streams, fill fillFunc) skellamSample {
	t.Helper()
	s := skellamSample{law: besselLaw(variance, 20+int(8*math.Sqrt(variance))), counts: map[int64]int{}}
	var sum, squares, products float64
	block := make([]int64, BlockCells)
	for i := 0; s.draws < n; i++ {
		if err := fill(streams.Noise([]byte("skellam"), nil, i), block); err != nil {
			t.Fatal(err)
		}
		for j, x := range block {
			s.counts[x]++
			sum += float64(x)
			squares += float64(x) * float64(x)
			if j%2 == 1 {
				products += float64(x) * float64(block[j-1])
			}
		}
		s.draws += len(block)
	}
	count := float64(s.draws)
	s.mean = sum / math.Sqrt(count*variance)
	s.squares = (squares/count - variance) / math.Sqrt((2*variance*variance+variance)/count) // E X⁴ = 3μ² + μ
	s.neighbours = products / (variance * math.Sqrt(count/2))
	s.chiSquareTail = s.chiSquare()
	return s
}

// chiSquare compares counts with the law on the values with at least 1000 draws expected, and all other ones together.
func (s skellamSample) chiSquare() float64 {
	n, statistic, mass, seen, bins := float64(s.draws), 0.0, 0.0, 0, 0
	for x, p := range s.law {
		for _, v := range []int64{int64(x), -int64(x)} {
			if n*p < 1000 || x == 0 && bins > 0 {
				continue
			}
			c := s.counts[v]
			statistic += (float64(c) - n*p) * (float64(c) - n*p) / (n * p)
			mass, seen, bins = mass+p, seen+c, bins+1
		}
	}
	if rest := n * (1 - mass); rest >= 100 {
		statistic += math.Pow(float64(s.draws-seen)-rest, 2) / rest
		bins++
	}
	return distuv.ChiSquared{K: float64(bins - 1)}.Survival(statistic)
}

// rejections names the checks that fail. Each rejects an exact sampler with probability at most 2e-12: see
// battery_test.go.
func (s skellamSample) rejections() (failed []string) {
	for name, z := range map[string]float64{"mean": s.mean, "variance": s.squares,
		"neighbours' product": s.neighbours} {
		if !(math.Abs(z) <= zThreshold) {
			failed = append(failed, name)
		}
	}
	if !(s.chiSquareTail >= 1e-12) {
		failed = append(failed, "chi-square")
	}
	slices.Sort(failed)
	return failed
}

// TestSumsOfSkellamSharesHaveTheExactLaw adds up the shares of all holders, 2¹⁸ times for every law: 4 checks on each
// of 23 samples, each with a false-alarm rate of 2e-12, so a run fails wrongly with probability below 2e-10.
func TestSumsOfSkellamSharesHaveTheExactLaw(t *testing.T) {
	testkit.SkipUnderRace(t)
	streams := NewStreams(freshKey(t), "skellam")
	samples := 0
	hold := func(name string, variance float64, n int, fill fillFunc) {
		samples++
		if failed := drawSkellam(t, variance, n, streams, fill).rejections(); len(failed) > 0 {
			t.Errorf("%s: %q are not as the law says", name, failed)
		}
	}
	forEachSkellam(t, func(t *testing.T, variance float64, holders int) {
		hold("shares", variance, 1<<18, summedShares(holders, drawnSkellam(variance, holders)))
	})
	hold("prefixes of 9 bits", 4, 1<<17, shortSkellam(4, 9))
	hold("prefixes of 12 bits", 100, 1<<17, shortSkellam(100, 12))
	hold("whole", 9, 1<<20, func(b *Bits, out []int64) error {
		clear(out)
		return AddSkellam(b, big.NewRat(9, 1), out)
	})
	if float64(samples*4)*falseAlarm > 2e-10 {
		t.Errorf("%d samples: correct the false-alarm rate that is stated", samples)
	}
}

// TestMutantsOfSkellamAreNoticed draws 2¹⁸ sums with a planted mistake. A share of t+1 holders, and a mean of μ for
// μ/2, change the variance by 9 % or more, which is 31 standard errors or more at a fourth moment of 3μ² + μ. N₁ alone
// and N₁ + N₂ move the mean by √(n·μ)/2 or more. Checks reject at 7.5, so each mutant is missed with probability below
// 1e-39.
func TestMutantsOfSkellamAreNoticed(t *testing.T) {
	testkit.SkipUnderRace(t)
	const n, variance = 1 << 18, 4.0
	streams := NewStreams(freshKey(t), "mutants of skellam")
	varianceError := math.Sqrt((2*variance*variance + variance) / n)
	for _, holders := range []int{1, 2, 10} {
		table := newShareTable(poisson{meanOf(variance, holders)}, shareBits)
		for _, m := range []struct {
			name, check string
			distance    float64
			fill        fillFunc
		}{
			{"a holder more", "variance", variance / float64(holders+1) / varianceError,
				drawnSkellam(variance, holders+1)},
			{"mean μ", "variance", variance / varianceError, drawnSkellam(2*variance, holders)},
			{"N₁ alone", "mean", math.Sqrt(n*variance) / 2, func(b *Bits, out []int64) error {
				table.fillCounts(b, out)
				return nil
			}},
			{"N₁ + N₂", "mean", math.Sqrt(n * variance), func(b *Bits, out []int64) error {
				pairs := make([]int64, 2*len(out))
				table.fillCounts(b, pairs)
				for i := range out {
					out[i] = pairs[2*i] + pairs[2*i+1]
				}
				return nil
			}},
		} {
			missed := distuv.UnitNormal.Survival(m.distance - zNoticed)
			failed := drawSkellam(t, variance, n, streams, summedShares(holders, m.fill)).rejections()
			t.Logf("%s, %d holders: %.3g standard errors at %q; rejected by %q", m.name, holders, m.distance, m.check,
				failed)
			if !slices.Contains(failed, m.check) {
				t.Errorf("%s, %d holders: %q does not notice it, only %q", m.name, holders, m.check, failed)
			}
			if missed > 1e-39 {
				t.Errorf("%s, %d holders: it is missed with probability %.2g", m.name, holders, missed)
			}
		}
	}
}

// TestEveryPrefixOfAPoissonDrawInverts runs [invertEveryPrefix] with laws whose tables begin at 0 and beyond it.
func TestEveryPrefixOfAPoissonDrawInverts(t *testing.T) {
	for _, mean := range []*big.Rat{big.NewRat(1, 8), big.NewRat(2, 1), big.NewRat(40, 1), big.NewRat(1000, 3)} {
		invertEveryPrefix(t, poisson{mean}, bigPoisson(mean, 200))
	}
}

// TestTiesOfPoissonDrawsAreDecidedByFurtherWords runs [decideTie] below the tables, within them and beyond them.
func TestTiesOfPoissonDrawsAreDecidedByFurtherWords(t *testing.T) {
	for _, mean := range []*big.Rat{big.NewRat(1, 3), big.NewRat(20, 1), big.NewRat(2000, 3)} {
		table, exact := newShareTable(poisson{mean}, shareBits), bigPoisson(mean, 400)
		first, last := int(table.first), int(table.first)+len(table.thresholds)
		for _, n := range []int{max(0, first-3), first, first + 1, (first + last) / 2, last - 2, last + 3} {
			decideTie(t, table, exact, n)
		}
	}
}

// TestPoissonTablesBeginWhereNothingIsLost checks the first thresholds of wide laws, and the words that a table takes.
func TestPoissonTablesBeginWhereNothingIsLost(t *testing.T) {
	for _, mean := range []*big.Rat{big.NewRat(1, 1000), big.NewRat(1, 2), big.NewRat(60, 1), big.NewRat(200, 1),
		big.NewRat(5001, 2), big.NewRat(1<<18, 1)} {
		law := poisson{mean}
		table := newShareTable(law, shareBits)
		if size := len(table.thresholds) + len(table.guide)/2; size > law.mostWords() {
			t.Errorf("mean %v: the table has %d words, more than %d", mean, size, law.mostWords())
		}
		if table.first > 0 && table.thresholds[0] != 0 {
			t.Errorf("mean %v: the first threshold, of %d, is %x", mean, table.first, table.thresholds[0])
		}
		if !slices.IsSorted(table.thresholds) {
			t.Errorf("mean %v: thresholds are not in order", mean)
		}
	}
}

// TestSkellamOfTheLargestVariance makes the largest table, and compares some of its probabilities with the logarithm of
// Γ and the variance of 2¹⁷ draws with μ, which has a standard error of √(2/n) in proportion.
func TestSkellamOfTheLargestVariance(t *testing.T) {
	testkit.SkipUnderRace(t)
	started := time.Now()
	law := poisson{big.NewRat(MostSkellamVariance, 2)}
	table := newShareTable(law, shareBits)
	t.Logf("%d thresholds from %d on in %v", len(table.thresholds), table.first,
		time.Since(started).Round(time.Millisecond))
	if size := len(table.thresholds) + len(table.guide)/2; size > law.mostWords() {
		t.Errorf("the table has %d words, more than the cache takes it for", size)
	}
	probabilities := probabilitiesOf(table)
	const mean = MostSkellamVariance / 2
	for _, n := range []int{mean - 10000, mean - 1000, mean, mean + 5000} {
		factorial, _ := math.Lgamma(float64(n) + 1)
		want := math.Exp(float64(n)*math.Log(mean) - mean - factorial)
		if got := probabilities[n-int(table.first)]; math.Abs(got/want-1) > 1e-6 {
			t.Errorf("P(N = %d) = %v, want %v", n, got, want)
		}
	}
	const n = 1 << 17
	out := make([]int64, n)
	table.fill(newBits(freshKey(t)), out)
	squares := 0.0
	for _, x := range out {
		squares += float64(x) * float64(x)
	}
	if ratio := squares / n / MostSkellamVariance; math.Abs(ratio-1) > zThreshold*math.Sqrt(2./n) {
		t.Errorf("the variance is %v of what it should be", ratio)
	}
}

// TestSkellamIsDrawnFromItsStreamAlone checks that a share of t holders is Skellam noise of variance μ/t, and that a
// shorter block is the beginning of a longer one.
func TestSkellamIsDrawnFromItsStreamAlone(t *testing.T) {
	key := freshKey(t)
	all, whole := make([]int64, BlockCells), make([]int64, 777)
	if err := AddSkellamShare(newBits(key), big.NewRat(9, 2), 3, all); err != nil {
		t.Fatal(err)
	}
	if err := AddSkellam(newBits(key), big.NewRat(3, 2), whole); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(whole, all[:777]) {
		t.Error("a share is not noise of its part of the variance")
	}
	if slices.Max(all) <= 0 || slices.Min(all) >= 0 {
		t.Error("4096 draws have one sign")
	}
	c := cache{entries: map[lawName]*entry{}, room: mostShareWords}
	if c.skellamOf(big.NewRat(1, 3)) != c.skellamOf(big.NewRat(2, 6)) {
		t.Error("one law has two samplers")
	}
	if c.skellamOf(big.NewRat(1, 3)) == c.shareOf(big.NewRat(1, 3), 1) {
		t.Error("two laws have one sampler")
	}
}

// BenchmarkSkellam adds noise to a block of counts.
func BenchmarkSkellam(b *testing.B) {
	for _, variance := range []float64{1, 100, 1e4, MostSkellamVariance} {
		parameter := new(big.Rat).SetFloat64(variance)
		b.Run("variance="+strconv.FormatFloat(variance, 'g', -1, 64), func(b *testing.B) {
			stream, counts, blocks := newBits(freshKey(b)), make([]int64, BlockCells), 0
			if err := AddSkellam(stream, parameter, counts); err != nil { // makes the table
				b.Fatal(err)
			}
			for b.Loop() {
				if err := AddSkellam(stream, parameter, counts); err != nil {
					b.Fatal(err)
				}
				blocks++
			}
			b.ReportMetric(float64(blocks*BlockCells)/b.Elapsed().Seconds()/1e6, "Mdraws/s")
		})
	}
}
