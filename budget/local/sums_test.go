package local

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/big"
	"math/rand/v2"
	"sort"
	"testing"
)

// convolve returns the law of the sum of two independent numbers.
func convolve(a, b []float64) []float64 {
	sum := make([]float64, len(a)+len(b)-1)
	for i, x := range a {
		for j, y := range b {
			sum[i+j] += x * y
		}
	}
	return sum
}

// listedSums returns a function from K to P(S = s) for all s by the definition: over every H, and all pairs of sums.
func listedSums(c Count) func(holders int64) []float64 {
	holder, other := definedScores(c)
	ofHolders, ofOthers := [][]float64{{1}}, [][]float64{{1}}
	for i := range c.Reports {
		ofHolders = append(ofHolders, convolve(ofHolders[i], holder))
		ofOthers = append(ofOthers, convolve(ofOthers[i], other))
	}
	choose := func(n, k int64) *big.Int { return new(big.Int).Binomial(n, k) }
	return func(holders int64) []float64 {
		law := make([]float64, c.Reports*c.Support+1)
		for h := max(0, c.Reports-(c.Respondents-holders)); h <= min(holders, c.Reports); h++ {
			ways := new(big.Int).Mul(choose(holders, h), choose(c.Respondents-holders, c.Reports-h))
			chance, _ := new(big.Rat).SetFrac(ways, choose(c.Respondents, c.Reports)).Float64()
			for s, mass := range convolve(ofHolders[h], ofOthers[c.Reports-h]) {
				law[s] += chance * mass
			}
		}
		return law
	}
}

// assertLaw compares P(S ≤ s) for all s, and the moments of the estimate, with a law.
func assertLaw(t *testing.T, c Count, holders int64, law []float64) {
	t.Helper()
	l := c.law()
	below, mean, square := 0.0, 0.0, 0.0
	for s, chance := range law {
		below += chance
		mean += chance * c.Estimate(int64(s))
		square += chance * c.Estimate(int64(s)) * c.Estimate(int64(s))
		if got := l.probabilityAtMost(holders, int64(s)); math.Abs(got-below) > 1e-12 {
			t.Fatalf("%+v, %d holders: P(S ≤ %d) = %.17g, expected %.17g", c, holders, s, got, below)
		}
	}
	deviation := c.Deviation(float64(holders))
	scale, variance := deviation+float64(c.Respondents), square-mean*mean
	if math.Abs(mean-float64(holders)) > 1e-11*scale || math.Abs(variance-deviation*deviation) > 1e-11*scale*scale {
		t.Fatalf("%+v, %d holders: mean %g, variance %g, expected %g", c, holders, mean, variance, deviation*deviation)
	}
}

// TestLawOfASumIsTheListedOne tries all K, all sizes of A and of the report.
func TestLawOfASumIsTheListedOne(t *testing.T) {
	for k := int64(2); k <= 7; k++ {
		for w := int64(1); w < k; w++ {
			r := Randomiser{k, w, keepFor(expDown(big.NewRat(k+w, 7)), k, w)}
			for m := int64(1); m < k; m++ {
				for _, size := range [][2]int64{{1, 1}, {5, 2}, {6, 6}} {
					c := Count{r, size[0], size[1], m}
					listed := listedSums(c)
					for holders := int64(0); holders <= c.Respondents; holders++ {
						assertLaw(t, c, holders, listed(holders))
					}
				}
			}
		}
	}
}

func TestLawOfLongerSumsIsTheListedOne(t *testing.T) {
	for _, r := range []Randomiser{mustNew(t, big.NewRat(1, 1), 30), mustNew(t, big.NewRat(10, 1), 5),
		{Categories: 12, Support: 9, Keep: chances * 7 / 8}} {
		for _, m := range []int64{2, 3, r.Categories / 2, r.Categories - 1} {
			for _, size := range [][2]int64{{40, 1}, {40, 19}, {24, 23}, {30, 30}} {
				c := Count{r, size[0], size[1], m}
				listed := listedSums(c)
				for holders := int64(0); holders <= c.Respondents; holders += 8 {
					assertLaw(t, c, holders, listed(holders))
				}
			}
		}
	}
}

// trimmed returns masses without the ends that are below 10^−22 of their sum.
func (s spread) trimmed() spread {
	var sum float64
	for _, mass := range s.mass {
		sum += mass
	}
	from, to := 0, len(s.mass)
	for s.mass[from] < 1e-22*sum {
		from++
	}
	for s.mass[to-1] < 1e-22*sum {
		to--
	}
	return spread{s.first + int64(from), s.mass[from:to]}
}

func (s spread) plus(o spread) spread {
	return spread{s.first + o.first, convolve(s.mass, o.mass)}.trimmed()
}

// times returns the law of the sum of so many independent numbers.
func (s spread) times(n int64) spread {
	sum := spread{0, []float64{1}}
	for ; n > 0; n /= 2 {
		if n%2 == 1 {
			sum = sum.plus(s)
		}
		if n > 1 {
			s = s.plus(s)
		}
	}
	return sum
}

// sumsOfMany returns the law of S by its definition, with Horner's rule over H.
func sumsOfMany(c Count, holders int64) spread {
	holderScores, otherScores := definedScores(c)
	holder, other := spread{0, holderScores}.trimmed(), spread{0, otherScores}.trimmed()
	n, all, k := float64(c.Reports), float64(c.Respondents), float64(holders)
	mean := n * k / all
	reach := 12*math.Sqrt(mean*(1-k/all)*(1-n/all)) + 20
	low := max(0, c.Reports-(c.Respondents-holders), int64(mean-reach))
	high := min(c.Reports, holders, int64(mean+reach))
	drawn := byRatios(low, high, int64(mean),
		func(h float64) float64 { return (k - h) * (n - h) / (h + 1) / (all - k - n + h + 1) })
	sum, rest := spread{}, other.times(c.Reports-high)
	for i := len(drawn.mass) - 1; i >= 0; i-- {
		if sum.mass != nil {
			sum = sum.plus(holder)
		}
		sum = sum.mixed(rest, drawn.mass[i])
		rest = rest.plus(other)
	}
	return sum.plus(holder.times(low))
}

// mixed returns s + weight·o.
func (s spread) mixed(o spread, weight float64) spread {
	if s.mass == nil {
		s.first = o.first
	}
	first := min(s.first, o.first)
	last := max(s.first+int64(len(s.mass)), o.first+int64(len(o.mass)))
	sum := spread{first, make([]float64, last-first)}
	copy(sum.mass[s.first-first:], s.mass)
	for i, mass := range o.mass {
		sum.mass[o.first-first+int64(i)] += weight * mass
	}
	return sum
}

func TestLawOfManyScoresIsTheSum(t *testing.T) {
	widest := int64(0)
	for _, r := range []Randomiser{mustNew(t, big.NewRat(1, 1), 20), mustNew(t, big.NewRat(4, 1), 30),
		{Categories: 12, Support: 9, Keep: chances * 7 / 8}} {
		for _, m := range []int64{2, r.Categories / 2, r.Categories - 2} {
			for _, size := range [][3]int64{{2000, 2000, 700}, {3000, 900, 1000}, {1e6, 400, 9e5}, {4000, 1500, 2}} {
				c := Count{r, size[0], size[1], m}
				l := c.law()
				widest = max(widest, l.drawnHolders(size[2]).stride)
				law := sumsOfMany(c, size[2])
				mean, variance := l.moments(float64(size[2]))
				var below float64
				for i, mass := range law.mass {
					below += mass
					if z := (float64(law.first) + float64(i) - mean) / math.Sqrt(variance); i%7 == 0 &&
						math.Abs(z) < 7 {
						if got := l.probabilityAtMost(size[2], law.first+int64(i)); math.Abs(got-below) > 2e-12 {
							t.Fatalf("%+v, %v, z = %g: %.15g, expected %.15g", c, size, z, got, below)
						}
					}
				}
			}
		}
	}
	if widest < 2 {
		t.Errorf("the widest stride was %d", widest)
	}
}

func TestIntervalsOfSumsCoverExactly(t *testing.T) {
	for _, r := range []Randomiser{mustNew(t, big.NewRat(1, 1), 10), mustNew(t, big.NewRat(3, 1), 4),
		mustNew(t, big.NewRat(1, 10), 6), {Categories: 5, Support: 3, Keep: chances * 9 / 10}} {
		for m := int64(1); m < r.Categories; m += 1 + m/3 {
			for _, size := range [][2]int64{{1, 1}, {9, 4}, {20, 20}, {25, 10}} {
				c := Count{r, size[0], size[1], m}
				listed := listedSums(c)
				for _, confidence := range []float64{0.5, 0.95} {
					lows, highs := intervals(t, c, 0, c.Reports*c.Support, confidence)
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
}

// TestIntervalsOfLongSumsAreNotTooLong is [TestLongIntervalsAreNotTooLong] for sums: both tails together may miss two
// probabilities of S, each 0.06 standard deviations at the ends.
func TestIntervalsOfLongSumsAreNotTooLong(t *testing.T) {
	seen := 0
	for _, r := range []Randomiser{mustNew(t, big.NewRat(1, 1), 100), mustNew(t, big.NewRat(3, 1), 12)} {
		for _, m := range []int64{2, r.Categories / 2, r.Categories - 2} {
			for _, size := range [][2]int64{{3000, 3000}, {20_000, 5000}, {100_000_000, 100_000_000}} {
				c := Count{r, size[0], size[1], m}
				l := c.law()
				for f := 0.04; f < 1; f += 0.19 {
					k := int64(f * l.respondents)
					mean, variance := l.moments(float64(k))
					away := 4 * l.deviation(float64(k))
					if float64(k) < away || l.respondents-float64(k) < away {
						continue
					}
					seen++
					from := int64(mean - 5*math.Sqrt(variance))
					search := func(found func(low, high int64) bool) int64 {
						return from + int64(sort.Search(int(10*math.Sqrt(variance)), func(i int) bool {
							return found(c.Interval(from+int64(i), 0.95))
						}))
					}
					first := search(func(_, high int64) bool { return high >= k })
					end := search(func(low, _ int64) bool { return low > k })
					covered := l.probabilityAtMost(k, end-1) - l.probabilityAtMost(k, first-1)
					if covered < 0.95 || covered > 0.95+0.13/math.Sqrt(variance) {
						t.Errorf("%+v covers %d with %g", c, k, covered)
					}
				}
			}
		}
	}
	if seen < 40 {
		t.Errorf("%d cases", seen)
	}
}

// TestIntervalOfTheOtherCategoriesIsTheRest rests on the identity that the scores of A and of all other categories add
// up to w n.
func TestIntervalOfTheOtherCategoriesIsTheRest(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for _, r := range []Randomiser{mustNew(t, big.NewRat(1, 1), 10), mustNew(t, big.NewRat(1, 1), 100),
		mustNew(t, big.NewRat(5, 1), 9), {Categories: 5, Support: 3, Keep: chances * 9 / 10}} {
		for _, size := range [][2]int64{{1, 1}, {30, 30}, {60, 25}, {5000, 3000}, {1e6, 1e5}, {1e9, 1e9}, {1e9, 1e7}} {
			for m := int64(1); 2*m <= r.Categories; m += 1 + m {
				c := Count{r, size[0], size[1], m}
				rest := Count{r, size[0], size[1], r.Categories - m}
				for range 4 {
					mean, variance := c.law().moments(math.Floor(random.Float64() * float64(size[0])))
					s := min(max(int64(mean+random.NormFloat64()*math.Sqrt(variance)), 0), c.Reports*c.Support)
					assertComplement(t, c, rest, s)
				}
			}
		}
	}
}

// assertComplement compares the estimates, deviations and intervals of A and of the other categories.
func assertComplement(t *testing.T, c, rest Count, s int64) {
	t.Helper()
	all, other := float64(c.Respondents), c.Support*c.Reports-s
	low, high := c.Interval(s, 0.95)
	restLow, restHigh := rest.Interval(other, 0.95)
	if low != c.Respondents-restHigh || high != c.Respondents-restLow {
		t.Errorf("%+v, score %d: from %d to %d, the others from %d to %d", c, s, low, high, restLow, restHigh)
	}
	if e, o := c.Estimate(s), rest.Estimate(other); math.Abs(e+o-all) > 1e-12*(all+math.Abs(e))*float64(c.Support) {
		t.Errorf("%+v, score %d: estimates %g and %g", c, s, e, o)
	}
	if d, o := c.Deviation(all/3), rest.Deviation(all-all/3); math.Abs(d-o) > 1e-12*d {
		t.Errorf("%+v: deviations %g and %g", c, d, o)
	}
}

func TestLawOfSumsIsMonotone(t *testing.T) {
	for _, m := range []int64{2, 5, 9} {
		l := Count{mustNew(t, big.NewRat(1, 1), 10), 3e5, 1e5, m}.law()
		for k := int64(0); k < 3e5; k += 29_973 {
			mean, variance := l.moments(float64(k))
			for z := -7.0; z < 7; z += 0.3 {
				s := int64(mean + z*math.Sqrt(variance))
				if l.probabilityAtMost(k, s) > l.probabilityAtMost(k, s+1)+1e-13 ||
					l.probabilityAtMost(k, s) < l.probabilityAtMost(k+1, s)-1e-13 {
					t.Errorf("m = %d, K = %d: P(S ≤ %d) does not rise in S or does not fall in K", m, k, s)
				}
			}
		}
	}
}

// TestIntervalsOfSumsAtTheEdges covers scores that no K explains, and all there are.
func TestIntervalsOfSumsAtTheEdges(t *testing.T) {
	c := Count{mustNew(t, big.NewRat(1, 1), 100), 1e6, 2e5, 90}
	for _, s := range []int64{0, c.Reports * 17, c.Reports * c.Support} {
		want := map[bool]int64{true: 1e6, false: 0}[s == c.Reports*c.Support]
		if low, high := c.Interval(s, 0.95); low != want || high != want {
			t.Errorf("score %d: from %d to %d, expected %d", s, low, high, want)
		}
	}
	if low, high := c.Interval(c.Reports*24, 1); low != 0 || high != 1e6 {
		t.Errorf("confidence 1: from %d to %d", low, high)
	}
	zero, one := c, c
	zero.Cells, one.Cells = 0, 1
	if zero.law().other.mean != one.law().other.mean || zero.Deviation(7) != one.Deviation(7) {
		t.Error("no cells are not one")
	}
}

// TestSimulatedSumsAreCovered draws the reports of 20 000 respondents as sets, 60 times. The respondents' categories
// within A and outside differ; nothing depends on that.
func TestSimulatedSumsAreCovered(t *testing.T) {
	const respondents, k, runs = 20_000, 12, 60
	r := mustNew(t, big.NewRat(1, 1), k)
	p, _ := r.floats()
	random := rand.New(rand.NewPCG(20, 27))
	a := map[int64]bool{0: true, 3: true, 4: true, 7: true, 11: true}
	covered, sum := 0, 0.0
	for range runs {
		c := Count{r, respondents, 0, int64(len(a))}
		var holders, scores int64
		for i := range int64(respondents) {
			own := min(i*i/97_000_000, k-1)
			if a[own] {
				holders++
			}
			if random.Uint64N(3) > 0 {
				continue
			}
			c.Reports++
			report := map[int64]bool{own: random.Float64() < p}
			for size := map[bool]int64{true: 1}[report[own]]; size < r.Support; {
				if v := random.Int64N(k); v != own && !report[v] {
					report[v] = true
					size++
				}
			}
			for v, held := range report {
				if held && a[v] {
					scores++
				}
			}
		}
		if low, high := c.Interval(scores, 0.95); low <= holders && holders <= high {
			covered++
		}
		sum += (c.Estimate(scores) - float64(holders)) / c.Deviation(float64(holders))
	}
	if covered < 40 || math.Abs(sum/math.Sqrt(runs)) > 6.3 {
		t.Errorf("%d of %d intervals cover, and the estimates are off by %g", covered, runs, sum/math.Sqrt(runs))
	}
}

// TestSumsHaveTheSameBitsEverywhere pins results that were computed on amd64.
func TestSumsHaveTheSameBitsEverywhere(t *testing.T) {
	hash := fnv.New64a()
	for _, c := range []Count{{Randomiser: mustNew(t, big.NewRat(1, 1), 100), Cells: 50},
		{Randomiser: mustNew(t, big.NewRat(7, 1), 300), Cells: 2},
		{Randomiser: Randomiser{5, 4, chances * 9 / 10}, Cells: 3}} {
		for _, size := range [][2]int64{{5, 5}, {60, 25}, {1e6, 1e6}, {1e8, 3e6}} {
			c.Respondents, c.Reports = size[0], size[1]
			writeLaw(hash, c.law())
		}
	}
	if got := hash.Sum64(); got != 0x7a3e2ef31d3a6cce {
		t.Errorf("the results have the hash %#x", got)
	}
}

func BenchmarkIntervalOfSums(b *testing.B) {
	for _, size := range [][4]int64{{1e6, 1e5, 100, 50}, {1e6, 1e5, 100, 2}, {1e6, 1e6, 100, 50}, {1e4, 1e3, 100, 50},
		{1e6, 1e5, 1 << 20, 1 << 19}} {
		for _, f := range []float64{0, 0.001, 0.3} {
			c := Count{mustNew(b, big.NewRat(1, 1), size[2]), size[0], size[1], size[3]}
			mean, variance := c.law().moments(f * float64(size[0]))
			b.Run(fmt.Sprintf("N=%d,n=%d,k=%d,m=%d,f=%g", size[0], size[1], size[2], size[3], f), func(b *testing.B) {
				random := rand.New(rand.NewPCG(1, 2))
				for b.Loop() {
					c.Interval(int64(mean+random.NormFloat64()*math.Sqrt(variance)), 0.95)
				}
			})
		}
	}
}
