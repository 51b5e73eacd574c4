package local

import (
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"math/big"
	"math/rand/v2"
	"sort"
	"testing"
)

// binomialLaws returns the probabilities of Bin(0, p) to Bin(n, p), by adding one variable at a time.
func binomialLaws(n int64, p float64) [][]float64 {
	all := [][]float64{{1}}
	for i := range n {
		next := make([]float64, i+2)
		for x, m := range all[i] {
			next[x] += m * (1 - p)
			next[x+1] += m * p
		}
		all = append(all, next)
	}
	return all
}

// listedLaw returns a function from K to P(S = s) for all s by its definition: over every H, and every pair of counts.
func listedLaw(c Count) func(holders int64) []float64 {
	p, q := c.floats()
	ofHolders, ofOthers := binomialLaws(c.Reports, p), binomialLaws(c.Reports, q)
	choose := func(n, k int64) *big.Int { return new(big.Int).Binomial(n, k) }
	return func(holders int64) []float64 {
		law := make([]float64, c.Reports+1)
		for h := max(0, c.Reports-(c.Respondents-holders)); h <= min(holders, c.Reports); h++ {
			ways := new(big.Int).Mul(choose(holders, h), choose(c.Respondents-holders, c.Reports-h))
			chance, _ := new(big.Rat).SetFrac(ways, choose(c.Respondents, c.Reports)).Float64()
			for i, a := range ofHolders[h] {
				for j, b := range ofOthers[c.Reports-h] {
					law[i+j] += chance * a * b
				}
			}
		}
		return law
	}
}

func TestLawIsTheListedOne(t *testing.T) {
	for _, r := range []Randomiser{mustNew(t, big.NewRat(1, 1), 10), mustNew(t, big.NewRat(1, 20), 2),
		mustNew(t, big.NewRat(10, 1), 5), mustNew(t, big.NewRat(4, 1), 1000),
		{Categories: 3, Support: 2, Keep: chances * 3 / 4}, {Categories: 10, Support: 2, Keep: chances / 2},
		{Categories: 2, Support: 1, Keep: chances/2 + 1<<40}} {
		for _, size := range [][2]int64{{1, 1}, {2, 1}, {7, 3}, {12, 12}, {40, 1}, {40, 39}, {60, 25}, {60, 60}} {
			c := Count{r, size[0], size[1], 1}
			listed := listedLaw(c)
			for k := int64(0); k <= c.Respondents; k++ {
				below, mean, square := 0.0, 0.0, 0.0
				for s, chance := range listed(k) {
					below += chance
					mean += chance * c.Estimate(int64(s))
					square += chance * c.Estimate(int64(s)) * c.Estimate(int64(s))
					if got := c.law().probabilityAtMost(k, int64(s)); math.Abs(got-below) > 1e-12 {
						t.Fatalf("%+v, %d holders: P(S ≤ %d) = %.17g, expected %.17g", c, k, s, got, below)
					}
				}
				deviation := c.Deviation(float64(k))
				scale, variance := deviation+float64(c.Respondents), square-mean*mean
				if math.Abs(mean-float64(k)) > 1e-11*scale ||
					math.Abs(variance-deviation*deviation) > 1e-11*scale*scale {
					t.Fatalf("%+v, %d holders: mean %g, variance %g, expected %g", c, k, mean, variance,
						deviation*deviation)
				}
			}
		}
	}
}

// spread is a law of whole numbers from first on.
type spread struct {
	first int64
	mass  []float64
}

// byRatios returns a law with a single mode from the ratio of the masses at x+1 and x, within a distance of a point.
func byRatios(from, to, middle int64, ratio func(x float64) float64) spread {
	s := spread{from, make([]float64, to-from+1)}
	s.mass[middle-from] = 1
	sum := 1.0
	for x := middle; x < to; x++ {
		s.mass[x+1-from] = s.mass[x-from] * ratio(float64(x))
		sum += s.mass[x+1-from]
	}
	for x := middle; x > from; x-- {
		s.mass[x-1-from] = s.mass[x-from] / ratio(float64(x-1))
		sum += s.mass[x-1-from]
	}
	for i := range s.mass {
		s.mass[i] /= sum
	}
	return s
}

// binomialNear returns the law of Bin(n, p) within 9 standard deviations and 30.
func binomialNear(n int64, p float64) spread {
	mean, reach := float64(n)*p, 9*math.Sqrt(float64(n)*p*(1-p))+30
	return byRatios(max(0, int64(mean-reach)), min(n, int64(mean+reach)), int64(mean),
		func(x float64) float64 { return (float64(n) - x) / (x + 1) * p / (1 - p) })
}

// sumBelow returns P(a + b ≤ s).
func sumBelow(a, b spread, s int64) float64 {
	below := make([]float64, len(b.mass)+1)
	for i, m := range b.mass {
		below[i+1] = below[i] + m
	}
	var sum float64
	for i, m := range a.mass {
		sum += m * below[min(max(s-(a.first+int64(i))-b.first+1, 0), int64(len(b.mass)))]
	}
	return sum
}

// addedLaw returns P(S ≤ s) by its definition, from laws that are computed by ratios.
func addedLaw(c Count, holders, s int64) float64 {
	p, q := c.floats()
	n, all, k := float64(c.Reports), float64(c.Respondents), float64(holders)
	reach := 30.
	if c.Reports < c.Respondents {
		reach += 9 * math.Sqrt(n*k/all*(1-k/all))
	}
	low := max(0, c.Reports-(c.Respondents-holders), int64(n*k/all-reach))
	high := min(c.Reports, holders, int64(n*k/all+reach))
	drawn := byRatios(low, high, int64(n*k/all),
		func(h float64) float64 { return (k - h) * (n - h) / (h + 1) / (all - k - n + h + 1) })
	var sum float64
	for i, m := range drawn.mass {
		if h := drawn.first + int64(i); m > 1e-17 {
			sum += m * sumBelow(binomialNear(h, p), binomialNear(c.Reports-h, q), s)
		}
	}
	return sum
}

// TestLawOfManyIsTheSum compares with sums over everything that may happen. It covers strides above 1 and 10^9 people.
func TestLawOfManyIsTheSum(t *testing.T) {
	widest := int64(0)
	for _, r := range []Randomiser{mustNew(t, big.NewRat(1, 1), 10), mustNew(t, big.NewRat(10, 1), 2),
		mustNew(t, big.NewRat(1, 10), 50), mustNew(t, big.NewRat(8, 1), 1000)} {
		for _, size := range [][3]int64{{2000, 1000, 1000}, {30_000, 3000, 9000}, {100_000, 2500, 60_000},
			{4000, 3900, 2000}, {4000, 1500, 3}, {1e6, 900, 1e6 - 5}, {1e6, 1e6, 3e5}, {1e8, 1e8, 1e7}, {1e8, 1e8, 0},
			{1e9, 1e9, 1e9}, {1e9, 1e7, 0}} {
			c := Count{r, size[0], size[1], 1}
			l := c.law()
			widest = max(widest, l.drawnHolders(size[2]).stride)
			mean, variance := l.moments(float64(size[2]))
			for _, z := range []float64{-6, -1.96, 0, 3} {
				s := int64(mean + z*math.Sqrt(variance))
				if got, want := l.probabilityAtMost(size[2], s), addedLaw(c, size[2], s); math.Abs(got-want) > 2e-11 {
					t.Errorf("%+v, %v, z = %g: %.15g, expected %.15g", r, size, z, got, want)
				}
			}
		}
	}
	if widest < 4 {
		t.Errorf("the widest stride was %d", widest)
	}
}

// TestIntervalsCoverExactly adds up the probabilities of all counts whose interval holds the truth.
func TestIntervalsCoverExactly(t *testing.T) {
	for _, r := range []Randomiser{mustNew(t, big.NewRat(1, 1), 10), mustNew(t, big.NewRat(3, 1), 4),
		mustNew(t, big.NewRat(10, 1), 5), mustNew(t, big.NewRat(1, 10), 2)} {
		for _, size := range [][2]int64{{1, 1}, {2, 1}, {9, 4}, {30, 30}, {40, 15}, {60, 59}} {
			c := Count{r, size[0], size[1], 1}
			listed := listedLaw(c)
			for _, confidence := range []float64{0.5, 0.9, 0.95, 0.99} {
				lows, highs := intervals(t, c, 0, c.Reports, confidence)
				for k := int64(0); k <= c.Respondents; k++ {
					var covered float64
					for s, chance := range listed(k) {
						if lows[s] <= k && k <= highs[s] {
							covered += chance
						}
					}
					if covered < confidence {
						t.Errorf("%+v covers %d with %.12g, and not %g", c, k, covered, confidence)
					}
				}
			}
		}
	}
}

// intervals returns the intervals of the counts from first to last. They must have ends that rise with the count.
func intervals(t *testing.T, c Count, first, last int64, confidence float64) (lows, highs []int64) {
	t.Helper()
	for s := first; s <= last; s++ {
		low, high := c.Interval(s, confidence)
		if low < 0 || high > c.Respondents || low > high {
			t.Fatalf("%+v, %d reports: from %d to %d", c, s, low, high)
		}
		if i := len(lows) - 1; i >= 0 && (low < lows[i] || high < highs[i]) {
			t.Fatalf("%+v: %d reports give an interval below the one of %d", c, s, s-1)
		}
		lows, highs = append(lows, low), append(highs, high)
	}
	return lows, highs
}

// TestLongIntervalsAreNotTooLong computes the coverage of thousands of reports, away from both ends of the range: it is
// at least 95 %, and at most 95.5 % where a count has a standard deviation of 25 or more. (Both tails together may miss
// two of its probabilities, each 0.06 standard deviations at the ends.)
func TestLongIntervalsAreNotTooLong(t *testing.T) {
	seen := 0
	for _, r := range []Randomiser{mustNew(t, big.NewRat(1, 1), 10), mustNew(t, big.NewRat(3, 1), 4),
		mustNew(t, big.NewRat(1, 2), 100)} {
		for _, size := range [][2]int64{{4000, 4000}, {20_000, 5000}, {10_000_000, 30_000},
			{100_000_000, 100_000_000}} {
			c := Count{r, size[0], size[1], 1}
			l := c.law()
			for f := 0.01; f < 1; f += 0.07 {
				k := int64(f * l.respondents)
				_, variance := l.moments(float64(k))
				away := 4 * l.deviation(float64(k))
				if float64(k) < away || l.respondents-float64(k) < away || variance < 25*25 {
					continue
				}
				seen++
				first := sort.Search(int(c.Reports+1), func(s int) bool {
					_, high := c.Interval(int64(s), 0.95)
					return high >= k
				})
				end := sort.Search(int(c.Reports+1), func(s int) bool {
					low, _ := c.Interval(int64(s), 0.95)
					return low > k
				})
				covered := l.probabilityAtMost(k, int64(end-1)) - l.probabilityAtMost(k, int64(first-1))
				if covered < 0.95 || covered > 0.955 {
					t.Errorf("%+v covers %d with %g", c, k, covered)
				}
			}
		}
	}
	if seen < 80 {
		t.Errorf("%d cases", seen)
	}
}

// TestIntervalIsTheRangeThatIsNotRejected tries every K.
func TestIntervalIsTheRangeThatIsNotRejected(t *testing.T) {
	for _, size := range [][2]int64{{40, 40}, {50, 12}, {1, 1}} {
		c := Count{mustNew(t, big.NewRat(2, 1), 6), size[0], size[1], 1}
		listed := listedLaw(c)
		for s := int64(0); s <= c.Reports; s++ {
			for _, confidence := range []float64{0.3, 0.9, 0.95, 0.999} {
				low, high := int64(-1), int64(-1)
				for k := int64(0); k <= c.Respondents; k++ {
					var up, down float64
					for i, chance := range listed(k) {
						if int64(i) >= s {
							up += chance
						}
						if int64(i) <= s {
							down += chance
						}
					}
					if half := (1 - confidence) / 2; up > half && down > half {
						high = k
						if low < 0 {
							low = k
						}
					}
				}
				if low < 0 { // all are rejected
					low = map[bool]int64{true: 0, false: c.Respondents}[c.Estimate(s) < 0]
					high = low
				}
				if gotLow, gotHigh := c.Interval(s, confidence); gotLow != low || gotHigh != high {
					t.Errorf("%+v, %d reports, confidence %g: from %d to %d, expected %d to %d", c, s, confidence,
						gotLow, gotHigh, low, high)
				}
			}
		}
	}
}

// TestThresholdsAreWhereTheLawPassesThem compares thresholds with sums of the listed law if there are no holders.
func TestThresholdsAreWhereTheLawPassesThem(t *testing.T) {
	for _, size := range [][2]int64{{1, 1}, {40, 40}, {50, 12}, {300, 200}} {
		for _, epsilon := range []int64{1, 4, 9} {
			c := Count{mustNew(t, big.NewRat(epsilon, 1), 1000), size[0], size[1], 1}
			_, q := c.floats()
			masses := binomialLaws(c.Reports, q)[c.Reports]
			for _, probability := range []float64{0.5, 0.01, 1e-6} {
				want, tail := c.Reports+1, 0.0
				for want > 1 && tail+masses[want-1] <= probability {
					want--
					tail += masses[want]
				}
				if got := c.Threshold(probability); got != want {
					t.Errorf("%+v: %d for %g, expected %d", c, got, probability, want)
				}
			}
		}
	}
}

// TestFewestHoldersWhoAreDetected compares the least number of holders of whom two questions reach their thresholds
// with the listed laws of both.
func TestFewestHoldersWhoAreDetected(t *testing.T) {
	first, second := Count{mustNew(t, big.NewRat(4, 1), 1000), 40, 25, 1},
		Count{mustNew(t, big.NewRat(2, 1), 50), 40, 15, 1}
	laws := []func(int64) []float64{listedLaw(first), listedLaw(second)}
	for _, thresholds := range [][]int64{{1, 1}, {3, 2}, {8, 9}, {25, 15}} {
		for _, probability := range []float64{0.05, 0.5, 0.95} {
			want := int64(0)
			for ; want <= first.Respondents; want++ {
				all := 1.0
				for i, law := range laws {
					tail := 0.0
					for _, chance := range law(want)[thresholds[i]:] {
						tail += chance
					}
					all *= tail
				}
				if all >= probability {
					break
				}
			}
			if got := LeastDetected([]Count{first, second}, thresholds, probability); got != want {
				t.Errorf("thresholds %d with probability %g: %d, expected %d", thresholds, probability, got, want)
			}
		}
	}
}

func TestIntervalAtTheEdges(t *testing.T) {
	c := Count{mustNew(t, big.NewRat(1, 1), 10), 1e6, 2e5, 1}
	for _, s := range []int64{0, 2e5} {
		want := map[bool]int64{true: 0, false: 1e6}[s == 0]
		if low, high := c.Interval(s, 0.95); low != want || high != want {
			t.Errorf("%d reports: from %d to %d, expected %d", s, low, high, want)
		}
	}
	for _, confidence := range []float64{1, 1 - 1e-10, 2} {
		if low, high := c.Interval(5e4, confidence); low != 0 || high != 1e6 {
			t.Errorf("confidence %g: from %d to %d", confidence, low, high)
		}
	}
	var lastLow, lastHigh int64 = 1e6, 0
	for _, confidence := range []float64{0, 0.1, 0.5, 0.9, 0.95, 0.99, 0.999, 1 - 1e-6} {
		low, high := c.Interval(5e4, confidence)
		if low > lastLow || high < lastHigh {
			t.Errorf("confidence %g: from %d to %d, which does not contain %d to %d", confidence, low, high, lastLow,
				lastHigh)
		}
		lastLow, lastHigh = low, high
	}
}

func TestLawIsMonotone(t *testing.T) {
	l := Count{mustNew(t, big.NewRat(1, 1), 10), 3e5, 1e5, 1}.law()
	for k := int64(0); k < 3e5; k += 9973 {
		mean, variance := l.moments(float64(k))
		for z := -7.0; z < 7; z += 0.3 {
			s := int64(mean + z*math.Sqrt(variance))
			if l.probabilityAtMost(k, s) > l.probabilityAtMost(k, s+1)+1e-13 ||
				l.probabilityAtMost(k, s) < l.probabilityAtMost(k+1, s)-1e-13 {
				t.Errorf("K = %d: P(S ≤ %d) does not rise in S or does not fall in K", k, s)
			}
		}
	}
}

// TestSimulatedReportsAreCovered draws all that happens to a million respondents, 60 times. If the law is right, the
// mean estimate is off by more than 6.3 of its standard deviations with a chance of 3e-10, and fewer than 40 intervals
// cover with one of 5e-12.
func TestSimulatedReportsAreCovered(t *testing.T) {
	const respondents, holders, runs = 1_000_000, 70_000, 60
	r := mustNew(t, big.NewRat(1, 1), 20)
	p, q := r.floats()
	random := rand.New(rand.NewPCG(20, 26))
	covered, sum := 0, 0.0
	for range runs {
		c := Count{r, respondents, 0, 1}
		var supports int64
		for i := range respondents {
			chance := q
			if i < holders {
				chance = p
			}
			if random.Uint64N(3) == 0 {
				c.Reports++
				if random.Float64() < chance {
					supports++
				}
			}
		}
		if low, high := c.Interval(supports, 0.95); low <= holders && holders <= high {
			covered++
		}
		sum += (c.Estimate(supports) - holders) / c.Deviation(holders)
	}
	if covered < 40 || math.Abs(sum/math.Sqrt(runs)) > 6.3 {
		t.Errorf("%d of %d intervals cover, and the estimates are off by %g", covered, runs, sum/math.Sqrt(runs))
	}
}

// TestLawHasTheSameBitsEverywhere pins results that were computed on amd64.
func TestLawHasTheSameBitsEverywhere(t *testing.T) {
	hash := fnv.New64a()
	for _, r := range []Randomiser{mustNew(t, big.NewRat(1, 1), 10), mustNew(t, big.NewRat(7, 1), 300)} {
		for _, size := range [][2]int64{{5, 5}, {60, 25}, {1e6, 1e6}, {1e8, 3e6}} {
			writeLaw(hash, Count{r, size[0], size[1], 1}.law())
		}
	}
	if got := hash.Sum64(); got != 0x6305031d5133f442 {
		t.Errorf("the results have the hash %#x", got)
	}
}

// writeLaw writes the bits of probabilities and standard deviations of a law.
func writeLaw(w io.Writer, l law) {
	for _, f := range []float64{0, 0.01, 0.4, 1} {
		k := math.Floor(f * l.respondents)
		mean, variance := l.moments(k)
		for z := -3.0; z <= 3; z++ {
			fmt.Fprintf(w, "%x ", math.Float64bits(l.probabilityAtMost(int64(k), int64(mean+z*math.Sqrt(variance)))))
		}
		fmt.Fprintf(w, "%x\n", math.Float64bits(l.deviation(k)))
	}
}

func BenchmarkInterval(b *testing.B) {
	r := mustNew(b, big.NewRat(1, 1), 100)
	for _, size := range [][2]int64{{1e4, 1e4}, {1e8, 1e8}, {1e6, 1e5}, {1e8, 1e7}, {1e8, 1e4}} {
		for _, f := range []float64{0, 0.001, 0.3} {
			c := Count{r, size[0], size[1], 1}
			mean, variance := c.law().moments(f * float64(size[0]))
			b.Run(fmt.Sprintf("N=%d,n=%d,f=%g", size[0], size[1], f), func(b *testing.B) {
				random := rand.New(rand.NewPCG(1, 2))
				for b.Loop() {
					c.Interval(int64(mean+random.NormFloat64()*math.Sqrt(variance)), 0.95)
				}
			})
		}
	}
}
