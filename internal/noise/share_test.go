package noise

import (
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/dprelease/dprelease/internal/testkit"

	"gonum.org/v1/gonum/stat/distuv"
)

// shareHolders and shareScales are the laws of shares that the tests of this file go through.
var (
	shareHolders = []int{1, 2, 3, 5, 10}
	shareScales  = []float64{0.5, 1, 4, 20}
)

// shareLaw is the law of N for a share.
func shareLaw(scale float64, holders int) polya {
	s := new(big.Rat).SetFloat64(scale)
	return polya{rate: s.Inv(s), holders: uint64(holders)}
}

// forEachShare runs a test for every law of a share.
func forEachShare(t *testing.T, test func(t *testing.T, scale float64, holders int)) {
	t.Helper()
	for _, scale := range shareScales {
		for _, holders := range shareHolders {
			t.Run("scale="+strconv.FormatFloat(scale, 'g', -1, 64)+"/holders="+strconv.Itoa(holders),
				func(t *testing.T) { test(t, scale, holders) })
		}
	}
}

// bigPolya returns P(N ≤ n) for n = 0, 1, …, until it is within 2^−bits of 1. Weights are divided by their sum: unlike
// the tables it takes no root.
func bigPolya(law polya, bits int) []*big.Float {
	a, one, holders := bigExpNeg(law.rate), bigFloat(1), bigFloat(float64(law.holders))
	weights, total := []*big.Float{one}, bigFloat(1)
	for n := 0.0; ; n++ {
		w := new(big.Float).SetPrec(bigPrecision).Mul(weights[len(weights)-1], a)
		numerator := bigFloat(n)
		w.Mul(w, numerator.Mul(numerator, holders).Add(numerator, one))
		denominator := bigFloat(n + 1)
		w.Quo(w, denominator.Mul(denominator, holders))
		if w.MantExp(nil) < -bits-64 {
			break
		}
		weights = append(weights, w)
		total.Add(total, w)
	}
	sum := bigFloat(0)
	cumulative := make([]*big.Float, len(weights))
	for n, w := range weights {
		sum.Add(sum, w)
		cumulative[n] = new(big.Float).SetPrec(bigPrecision).Quo(sum, total)
	}
	return cumulative
}

// probabilitiesOf returns the law of N that a table draws from but for ties.
func probabilitiesOf(table *shareTable) []float64 {
	law := make([]float64, len(table.thresholds))
	before := uint64(0)
	for n, threshold := range table.thresholds {
		law[n] = float64(threshold-before) / 0x1p64
		before = threshold
	}
	return law
}

// TestShareThresholdsAreExact compares every threshold, and those of wide laws, bit for bit with sums of weights.
func TestShareThresholdsAreExact(t *testing.T) {
	laws := []polya{shareLaw(1000, 2), shareLaw(300, 1000003), shareLaw(3, math.MaxInt), shareLaw(1./4096, 7),
		{rate: big.NewRat(998244353, 1000000007), holders: 6}}
	for _, scale := range shareScales {
		for _, holders := range shareHolders {
			laws = append(laws, shareLaw(scale, holders))
		}
	}
	entries := 0
	for _, law := range laws {
		got, want := newShareTable(law, shareBits).thresholds, bigPolya(law, 70)
		for n := range got {
			exact := ^uint64(0)
			if n < len(want) {
				if floor := bitsOf(want[n], shareBits); floor.BitLen() <= shareBits {
					exact = floor.Uint64()
				}
			}
			if got[n] != exact {
				t.Fatalf("rate %v, %d holders: threshold %d is %x, want %x", law.rate, law.holders, n, got[n], exact)
			}
		}
		if last := len(got) - 1; got[last] != ^uint64(0) || last > 0 && got[last-1] == got[last] {
			t.Errorf("rate %v, %d holders: the last threshold is %x", law.rate, law.holders, got[last])
		}
		entries += len(got)
	}
	t.Logf("%d thresholds", entries)
}

// TestSharesOfAllHoldersAreLaplace convolves the law of the thresholds with itself, once for every holder: the sum of
// all N₁ is geometric, and its difference from the sum of all N₂ is discrete Laplace.
func TestSharesOfAllHoldersAreLaplace(t *testing.T) {
	forEachShare(t, func(t *testing.T, scale float64, holders int) {
		law := probabilitiesOf(newShareTable(shareLaw(scale, holders), shareBits))
		if worst := worstFromLaplace(law, scale, holders); worst > 1e-12 {
			t.Errorf("a probability is off by %g", worst)
		}
		if worst := worstFromLaplace(law, scale, holders+1); worst < 1e-3 {
			t.Errorf("with a share more a probability is off by no more than %g", worst)
		}
	})
}

// worstFromLaplace returns by how much the probabilities of a sum of shares differ from a discrete Laplace law at
// most, where N has a given law.
func worstFromLaplace(law []float64, scale float64, shares int) (worst float64) {
	sum := []float64{1} // of some N, as far as the table goes: no smaller value is lost
	for range shares {
		next := make([]float64, len(law))
		for i, p := range sum {
			for j, q := range law[:len(law)-i] {
				next[i+j] += p * q
			}
		}
		sum = next
	}
	a := math.Exp(-1 / scale)
	for x := range sum {
		difference := 0.0 // P(X = x) = P(X = −x)
		for n := range sum[x:] {
			difference += sum[n] * sum[n+x]
		}
		worst = max(worst, math.Abs(difference-(1-a)/(1+a)*math.Pow(a, float64(x))))
	}
	return worst
}

// TestTheShareOfOneHolderIsLaplace compares with the tables of the geometric law that the other samplers use.
func TestTheShareOfOneHolderIsLaplace(t *testing.T) {
	for _, scale := range append(shareScales, 1000) {
		law := shareLaw(scale, 1)
		got, want := newShareTable(law, shareBits).thresholds, magnitudes{rate: law.rate}.thresholds(shareBits)
		if !slices.Equal(got, want) {
			t.Errorf("scale %v: %d thresholds are not the %d of the geometric law", scale, len(got), len(want))
		}
	}
}

// summedShares draws the sum of the shares of some holders.
func summedShares(holders int, fill fillFunc) fillFunc {
	return func(b *Bits, out []int64) error {
		clear(out)
		own := make([]int64, len(out))
		for range holders {
			if err := fill(b, own); err != nil {
				return err
			}
			if err := addTo(out, own); err != nil {
				return err
			}
		}
		return nil
	}
}

// drawnShares is what a holder draws.
func drawnShares(l exactLaw, holders int) fillFunc {
	return func(b *Bits, out []int64) error {
		clear(out)
		if l.square {
			return AddGaussianShare(b, l.parameter, holders, out)
		}
		return AddLaplaceShare(b, l.parameter, holders, out)
	}
}

// shortShares draws shares by prefixes of so few bits that a large share of draws needs more.
func shortShares(l exactLaw, holders int, length uint) fillFunc {
	table := newShareTable(shareLaw(l.scale, holders), length)
	return func(b *Bits, out []int64) error {
		words := make([]uint64, 2*len(out))
		for i := range words {
			words[i] = b.Uint64() &^ (^uint64(0) >> length)
		}
		table.fill(&Bits{keystream: &fixedWords{words}, next: bufferBytes, aside: b.SecondStream()}, out)
		return nil
	}
}

// TestSumsOfSharesHaveTheExactLaw adds up the shares of all holders, 2¹⁸ times for every law, and holds the sums to
// the discrete Laplace law, and to the discrete Gaussian law, by the checks of the battery: 10 checks on each of 25
// samples, each with a false-alarm rate of 2e-12, so a run fails wrongly with probability below 5e-10.
func TestSumsOfSharesHaveTheExactLaw(t *testing.T) {
	testkit.SkipUnderRace(t)
	streams := NewStreams(freshKey(t), "shares")
	samples := 0
	hold := func(name string, l exactLaw, n int, fill fillFunc) {
		samples++
		if failed := newSample(l).draw(t, n, streams, fill).rejections(); len(failed) > 0 {
			t.Errorf("%s: %q are not as the law says", name, failed)
		}
	}
	for _, scale := range shareScales {
		for _, holders := range shareHolders {
			l := laplaceLaw(scale)
			hold(l.name+", "+strconv.Itoa(holders)+" holders", l, 1<<18, summedShares(holders, drawnShares(l, holders)))
		}
	}
	wide := laplaceLaw(3000)
	hold(wide.name, wide, 1<<18, summedShares(4, drawnShares(wide, 4)))
	short := laplaceLaw(0.5)
	hold("prefixes of 9 bits", short, 1<<17, summedShares(2, shortShares(short, 2, 9)))
	for _, holders := range []int{1, 3, 8} {
		l := gaussianLaw(12) // of which a share of 8 has σ² = 18
		hold(l.name+", "+strconv.Itoa(holders)+" holders", l, 1<<18, summedShares(holders, drawnShares(l, holders)))
	}
	if float64(samples*checks)*falseAlarm > 5.1e-10 {
		t.Errorf("%d samples: correct the false-alarm rate that is stated", samples)
	}
}

// TestGaussianSharesAreRefused asks for shares that do not add up to the law, and for those of nobody.
func TestGaussianSharesAreRefused(t *testing.T) {
	for _, c := range []struct {
		parameter *big.Rat
		holders   int
		why       string
	}{{big.NewRat(47, 1), 3, "at least 16"}, {big.NewRat(100, 1), 0, "at least 1 holder"},
		{new(big.Rat), 1, "positive"}} {
		counts := []int64{7}
		err := AddGaussianShare(NewStreams(freshKey(t), "refused").Noise(nil, nil, 0), c.parameter, c.holders, counts)
		if err == nil || !strings.Contains(err.Error(), c.why) || counts[0] != 0 {
			t.Errorf("σ² of %s for %d holders: %v, counts are %v", c.parameter, c.holders, err, counts)
		}
	}
}

// TestMutantsOfGaussianSharesAreNoticed draws sums of shares of which one more is needed: they have holders/(holders+1)
// of the variance, 36 standard errors less or more, so that each is missed with probability below 1e-39.
func TestMutantsOfGaussianSharesAreNoticed(t *testing.T) {
	testkit.SkipUnderRace(t)
	l, streams := gaussianLaw(12), NewStreams(freshKey(t), "mutants of Gaussian shares")
	for _, holders := range []int{2, 8} {
		failed := newSample(l).draw(t, 1<<18, streams, summedShares(holders, drawnShares(l, holders+1))).rejections()
		if !slices.Contains(failed, "variance") {
			t.Errorf("%d holders: not noticed in the variance, only in %q", holders, failed)
		}
	}
}

// TestMutantsOfSharesAreNoticed draws 2¹⁸ sums of shares with a planted mistake. A wrong order moves the variance by
// 20.8 standard errors or more: 10 shares of order 1/11 have 10/11 of it, and a law of kurtosis 6 an error of √(5/n).
// Shares without N₂, and shares with N₁ + N₂, move the mean by more than 200. Checks reject at 7.5, so each mutant is
// missed with probability below 1e-39.
func TestMutantsOfSharesAreNoticed(t *testing.T) {
	testkit.SkipUnderRace(t)
	const n = 1 << 18
	streams := NewStreams(freshKey(t), "mutants of shares")
	l := laplaceLaw(4)
	_, variance, fourth, _ := l.moments()
	for _, holders := range []int{2, 10} {
		table := newShareTable(shareLaw(l.scale, holders), shareBits)
		mean := math.Exp(-1/l.scale) / -math.Expm1(-1/l.scale) // of the sum of all N₁
		for _, m := range []struct {
			name, check string
			distance    float64
			fill        fillFunc
		}{
			{"order 1/(t+1)", "variance", variance / float64(holders+1) / math.Sqrt((fourth-variance*variance)/n),
				drawnShares(l, holders+1)},
			{"N₁ alone", "mean", mean / math.Sqrt(variance/n), func(b *Bits, out []int64) error {
				table.fillCounts(b, out)
				return nil
			}},
			{"N₁ + N₂", "mean", 2 * mean / math.Sqrt(variance/n), func(b *Bits, out []int64) error {
				pairs := make([]int64, 2*len(out))
				table.fillCounts(b, pairs)
				for i := range out {
					out[i] = pairs[2*i] + pairs[2*i+1]
				}
				return nil
			}},
		} {
			missed := distuv.UnitNormal.Survival(m.distance - zNoticed)
			failed := newSample(l).draw(t, n, streams, summedShares(holders, m.fill)).rejections()
			t.Logf("%s, %d holders: %.3g standard errors at %q, missed with probability %.2g; rejected by %q", m.name,
				holders, m.distance, m.check, missed, failed)
			if !slices.Contains(failed, m.check) {
				t.Errorf("%s, %d holders: %q does not notice it, only %q", m.name, holders, m.check, failed)
			}
			if missed > 1e-39 {
				t.Errorf("%s, %d holders: it is missed with probability %.2g", m.name, holders, missed)
			}
		}
	}
}

// TestEveryPrefixOfAShareInverts runs [invertEveryPrefix] with the laws of shares.
func TestEveryPrefixOfAShareInverts(t *testing.T) {
	forEachShare(t, func(t *testing.T, scale float64, holders int) {
		law := shareLaw(scale, holders)
		invertEveryPrefix(t, law, bigPolya(law, 200))
	})
}

// invertEveryPrefix draws from a law with F = exact, with each of the 2ˡ prefixes of tables with l bits, for l = 4 to
// 10. Exactly the prefixes equal to a threshold take further bits, and every draw is the least n with U < F(n), for the
// U that was used.
func invertEveryPrefix(t *testing.T, law countLaw, exact []*big.Float) {
	t.Helper()
	thresholds := make([]*big.Int, len(exact)) // ⌊2¹²⁸·F(n)⌋
	for n := range exact {
		thresholds[n] = bitsOf(exact[n], 128)
	}
	source, slow := newBits(freshKey(t)), 0
	for length := uint(4); length <= 10; length++ {
		table := newShareTable(law, length)
		ties := map[uint64]bool{1<<length - 1: true} // the tail beyond the table begins with the largest prefix
		for _, threshold := range thresholds {
			ties[new(big.Int).Rsh(threshold, 128-length).Uint64()] = true
		}
		for prefix := range uint64(1) << length {
			word, further := prefix<<(shareBits-length), source.Uint64()
			b := bitsFrom([]uint64{word}, []uint64{further})
			var out [1]int64
			table.fillCounts(b, out[:])
			u := new(big.Int).SetUint64(word)
			u.Lsh(u, 64)
			// 64 bits decide but with probability 2⁻⁵⁰
			if read := asideRead(b); read > 1 || ties[prefix] != (read == 1) {
				t.Fatalf("%v, %d bits, prefix %x: %d further words were read", law, length, prefix, read)
			}
			if ties[prefix] {
				slow++
				rest := new(big.Int).SetUint64(further)
				u.Add(u, rest.Lsh(rest, 64-length))
			}
			n, _ := slices.BinarySearchFunc(thresholds, u, func(threshold, u *big.Int) int {
				return max(0, threshold.Cmp(u))*2 - 1 // the first above U
			})
			if out[0] != int64(n) {
				t.Fatalf("%v, %d bits, prefix %x, U = %x/2¹²⁸: got %d, want %d", law, length, prefix, u, out[0], n)
			}
		}
	}
	t.Logf("%v: %d draws took further bits", law, slow)
}

// TestTiesOfSharesAreDecidedByFurtherWords runs [decideTie] within the tables of shares and beyond them.
func TestTiesOfSharesAreDecidedByFurtherWords(t *testing.T) {
	for _, law := range []polya{shareLaw(0.5, 3), shareLaw(4, 2), shareLaw(20, 10)} {
		table, exact := newShareTable(law, shareBits), bigPolya(law, 330)
		for _, n := range []int{0, 1, len(table.thresholds) / 3, len(table.thresholds) - 2, len(table.thresholds) + 3} {
			decideTie(t, table, exact, n)
		}
	}
}

// decideTie gives a draw the first 64, 128 and 192 bits of F(n) itself. Only what follows decides between n and n+1.
func decideTie(t *testing.T, table *shareTable, exact []*big.Float, n int) {
	t.Helper()
	for words := 1; words <= 3; words++ {
		bits := bitsOf(exact[n], shareBits*(words+1))
		if bits.Sign() == 0 {
			continue // all smaller n tie as well
		}
		aside := make([]uint64, words)
		for i := words - 1; i >= 0; i-- {
			aside[i] = bits.Uint64() // the low word
			bits.Rsh(bits, 64)
		}
		for end, want := range map[uint64]int64{0: int64(n), ^uint64(0): int64(n) + 1} {
			b := bitsFrom([]uint64{bits.Uint64()}, append(aside[:words:words], end, end))
			var out [1]int64
			if table.fillCounts(b, out[:]); out[0] != want {
				t.Errorf("%v: U beginning with %d bits of F(%d), then %x: got %d, want %d", table.law,
					shareBits*(words+1), n, end, out[0], want)
			}
		}
	}
}

// TestRootsAreEnclosed checks y^(1/n) by its power, of more digits than the enclosures have.
func TestRootsAreEnclosed(t *testing.T) {
	f := &fixedPoint{precision: 192}
	for _, y := range []*big.Rat{big.NewRat(1, 65536), big.NewRat(1, 3), big.NewRat(1<<40-1, 1<<40)} {
		for _, n := range []uint64{1, 2, 3, 10, 255} {
			root := f.root(f.rational(y, 0), n)
			exact := new(big.Rat).SetFrac(new(big.Int).Lsh(y.Num(), 192*uint(n)), y.Denom())
			exponent := new(big.Int).SetUint64(n)
			least := new(big.Rat).SetInt(new(big.Int).Exp(&root.lo, exponent, nil))
			most := new(big.Rat).SetInt(new(big.Int).Exp(&root.hi, exponent, nil))
			if least.Cmp(exact) > 0 || most.Cmp(exact) < 0 {
				t.Errorf("the root %d of %v is not in its enclosure", n, y)
			}
			if width := new(big.Int).Sub(&root.hi, &root.lo); width.BitLen() > 20 {
				t.Errorf("the root %d of %v is enclosed to %v units", n, y, width)
			}
		}
	}
}

// badShare is a share that is refused, and part of the message.
type badShare struct {
	name      string
	parameter *big.Rat
	holders   int
	count     int64
	message   string
}

// check reports a share that is added, a count that is left, and a message that holds one.
func (c badShare) check(t *testing.T, add func(*Bits, *big.Rat, int, []int64) error) {
	t.Helper()
	counts := []int64{123456, c.count, 123456}
	err := add(newBits(freshKey(t)), c.parameter, c.holders, counts)
	if err == nil || !strings.Contains(err.Error(), c.message) || !slices.Equal(counts, []int64{0, 0, 0}) {
		t.Errorf("%s: error %v, counts %v", c.name, err, counts)
	}
	if err != nil && strings.Contains(err.Error(), "123456") {
		t.Errorf("%s: the message holds a count: %v", c.name, err)
	}
}

// TestBadSharesLeaveNoCounts goes through every error.
func TestBadSharesLeaveNoCounts(t *testing.T) {
	tooLong := new(big.Rat).SetInt(new(big.Int).Lsh(bigOne, maxParameterBits))
	for _, c := range []badShare{
		{"no parameter", nil, 2, 7, "must be positive"},
		{"zero", new(big.Rat), 2, 7, "must be positive"},
		{"negative", big.NewRat(-1, 2), 2, 7, "must be positive"},
		{"too many bits", tooLong, 2, 7, "bits"},
		{"too many bits below 1", new(big.Rat).Inv(tooLong), 2, 7, "bits"},
		{"no holder", big.NewRat(1, 1), 0, 7, "at least 1 holder"},
		{"fewer", big.NewRat(1, 1), -3, 7, "at least 1 holder"},
		{"a count of 2^62", big.NewRat(1, 1), 2, 1 << 62, "2^62"},
		{"a count of −2^62", big.NewRat(1, 1), 2, -1 << 62, "2^62"},
		{"the least int64", big.NewRat(1, 1), 2, math.MinInt64, "2^62"},
	} {
		c.check(t, AddLaplaceShare)
		c.check(t, AddSkellamShare)
	}
	badShare{"too wide", big.NewRat(2*MostShareScale+1, 2), 2, 7, "at most 65536"}.check(t, AddLaplaceShare)
	badShare{"too wide", big.NewRat(2*MostSkellamVariance+1, 2), 1000, 7, "at most 16777216"}.check(t, AddSkellamShare)
	counts := []int64{5}
	if err := AddSkellam(newBits(freshKey(t)), big.NewRat(-1, 1), counts); err == nil || counts[0] != 0 {
		t.Errorf("a negative variance: %v, counts %v", err, counts)
	}
	atLimit := slices.Repeat([]int64{1<<62 - 1}, 1000)
	if err := AddLaplaceShare(newBits(freshKey(t)), big.NewRat(100, 1), 2, atLimit); err == nil {
		t.Error("1000 sums at the limit passed") // honest with probability below 2⁻⁹⁰⁰
	}
}

// TestSharesDependOnTheirStreamAlone adds shares to large counts, to fewer counts, and after an odd word was read.
func TestSharesDependOnTheirStreamAlone(t *testing.T) {
	key := freshKey(t)
	add := func(b *Bits, counts []int64) []int64 {
		t.Helper()
		if err := AddLaplaceShare(b, big.NewRat(9, 2), 3, counts); err != nil {
			t.Fatal(err)
		}
		return counts
	}
	all := add(newBits(key), make([]int64, BlockCells))
	if slices.Max(all) <= 0 || slices.Min(all) >= 0 {
		t.Error("4096 shares have one sign")
	}
	if !slices.Equal(add(newBits(key), make([]int64, 777)), all[:777]) {
		t.Error("a shorter block begins differently")
	}
	for i, sum := range add(newBits(key), slices.Repeat([]int64{1 << 60}, BlockCells)) {
		if sum != 1<<60+all[i] {
			t.Fatalf("cell %d became %d with a share of %d", i, sum, all[i])
		}
	}
	table := newShareTable(shareLaw(4.5, 3), shareBits)
	words, b := newBits(key), newBits(key)
	words.Uint64()
	b.Uint64()
	var want [BlockCells]int64
	for i := range want { // each from words of its own
		table.fill(bitsFrom([]uint64{words.Uint64(), words.Uint64()}, nil), want[i:i+1])
	}
	if !slices.Equal(add(b, make([]int64, BlockCells)), want[:]) {
		t.Error("shares are drawn from other words after an odd one was read")
	}
}

// TestSharesOfTheLargestScale makes the largest table, and compares some of its probabilities with the logarithms of
// Γ and the variance of 2¹⁷ shares with 2r·a/(1−a)². A share of 2 holders has a kurtosis of 9, so the variance has a
// standard error of √(8/n) in proportion.
func TestSharesOfTheLargestScale(t *testing.T) {
	testkit.SkipUnderRace(t)
	started := time.Now()
	table := newShareTable(shareLaw(MostShareScale, 2), shareBits)
	t.Logf("%d thresholds in %v", len(table.thresholds), time.Since(started).Round(time.Millisecond))
	if size := len(table.thresholds) + len(table.guide)/2; size > 45*MostShareScale+1<<(mostShareGuideBits-1) {
		t.Errorf("the table has %d words, more than the cache takes it for", size)
	}
	if !slices.IsSorted(table.thresholds) {
		t.Error("its thresholds are not in order")
	}
	a, gap := math.Exp(-1./MostShareScale), -math.Expm1(-1./MostShareScale)
	law := probabilitiesOf(table)
	for _, n := range []int{0, 1, 10, 1000, MostShareScale, 10 * MostShareScale} {
		rising, _ := math.Lgamma(float64(n) + 0.5)
		factorial, _ := math.Lgamma(float64(n) + 1)
		want := math.Exp(rising-factorial-float64(n)/MostShareScale) * math.Sqrt(gap/math.Pi)
		if math.Abs(law[n]/want-1) > 1e-7 {
			t.Errorf("P(N = %d) = %v, want %v", n, law[n], want)
		}
	}
	const n = 1 << 17
	out := make([]int64, n)
	table.fill(newBits(freshKey(t)), out)
	squares := 0.0
	for _, x := range out {
		squares += float64(x) * float64(x)
	}
	if ratio := squares / n / (a / (gap * gap)); math.Abs(ratio-1) > zThreshold*math.Sqrt(8./n) {
		t.Errorf("the variance is %v of what it should be", ratio)
	}
}

// TestWordsBesideThresholdsAreCounted draws with the words just below, at and just above thresholds of a wide table,
// and compares with a search among all of them.
func TestWordsBesideThresholdsAreCounted(t *testing.T) {
	table := newShareTable(shareLaw(1000, 3), shareBits)
	ties := 0
	for at := 0; at < len(table.thresholds)/2; at += 7 { // beyond, thresholds are next to each other
		for word := table.thresholds[at] - 1; word <= table.thresholds[at]+1; word++ {
			want, tie := slices.BinarySearch(table.thresholds, word)
			if tie {
				ties++
				if ties > 20 {
					continue // each takes a long sum
				}
			}
			var out [1]int64
			b := bitsFrom([]uint64{word}, nil)
			table.fillCounts(b, out[:])
			if tie != (asideRead(b) > 0) || out[0] != int64(want) { // zeros aside are below F for certain
				t.Fatalf("word %x: got %d with %d further words, want %d", word, out[0], asideRead(b), want)
			}
		}
	}
	if ties < 1000 {
		t.Errorf("only %d words are thresholds", ties)
	}
}

// TestTablesOfSharesTakeBoundedMemory asks for laws of all sizes: the sizes of what is kept stay within the room.
func TestTablesOfSharesTakeBoundedMemory(t *testing.T) {
	c := cache{entries: map[lawName]*entry{}, room: mostShareWords}
	entryOf := func(i int64, size int) *entry {
		return c.entryOf(lawName{holders: 2}, big.NewRat(1, i), size, nil) // made when first drawn from
	}
	first := entryOf(1, 1000)
	for i := range int64(300) {
		entryOf(i+2, int(1+i%7)*mostShareWords/8)
		if entryOf(1, 1000) != first {
			t.Fatalf("the law used last was dropped after %d others", i+1)
		}
		taken := 0
		for _, e := range c.entries {
			taken += e.size
		}
		if taken != c.taken || taken > mostShareWords {
			t.Fatalf("%d words are kept, and counted as %d", taken, c.taken)
		}
	}
	if c.shareOf(big.NewRat(1, 3), 2) != c.shareOf(big.NewRat(2, 6), 2) {
		t.Error("one law has two samplers")
	}
	if c.shareOf(big.NewRat(1, 3), 2) == c.shareOf(big.NewRat(1, 3), 3) {
		t.Error("two laws have one sampler")
	}
}

// BenchmarkLaplaceShare adds shares, each to a block of counts, as a holder does.
func BenchmarkLaplaceShare(b *testing.B) {
	for _, scale := range []float64{0.5, 4, 100, 1000, MostShareScale} {
		for _, holders := range []int{2, 10} {
			l := laplaceLaw(scale)
			b.Run(l.name+"/holders="+strconv.Itoa(holders), func(b *testing.B) {
				stream, counts, blocks := newBits(freshKey(b)), make([]int64, BlockCells), 0
				if err := AddLaplaceShare(stream, l.parameter, holders, counts); err != nil { // makes the table
					b.Fatal(err)
				}
				for b.Loop() {
					if err := AddLaplaceShare(stream, l.parameter, holders, counts); err != nil {
						b.Fatal(err)
					}
					blocks++
				}
				b.ReportMetric(float64(blocks*BlockCells)/b.Elapsed().Seconds()/1e6, "Mshares/s")
			})
		}
	}
}

// BenchmarkShareTable makes the table of a share, as the first use of a law does.
func BenchmarkShareTable(b *testing.B) {
	for _, scale := range []float64{4, 1000, MostShareScale} {
		b.Run(strconv.FormatFloat(scale, 'g', -1, 64), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				newShareTable(shareLaw(scale, 2), shareBits)
			}
		})
	}
}
