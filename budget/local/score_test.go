package local

import (
	"math"
	"math/big"
	"math/bits"
	"testing"
)

// definedScores returns the laws of a holder's score and of another's, from 0 to w, as the randomiser is described: the
// respondent's own category with probability p, and the others of the report drawn uniformly.
func definedScores(c Count) (holder, other []float64) {
	m, own := max(1, c.Cells), big.NewRat(c.Keep, chances)
	drawn := func(inside, size, y int64) *big.Rat { // of k−1 others, so many inside, a set of a size holds y
		if y < 0 || y > size || size-y > c.Categories-1-inside {
			return new(big.Rat)
		}
		ways := new(big.Int).Binomial(inside, y)
		ways.Mul(ways, new(big.Int).Binomial(c.Categories-1-inside, size-y))
		return new(big.Rat).SetFrac(ways, new(big.Int).Binomial(c.Categories-1, size))
	}
	mixed := func(with, without *big.Rat) float64 {
		with.Sub(with, without)
		chance, _ := without.Add(without, with.Mul(with, own)).Float64()
		return chance
	}
	for y := range c.Support + 1 {
		holder = append(holder, mixed(drawn(m-1, c.Support-1, y-1), drawn(m-1, c.Support, y)))
		other = append(other, mixed(drawn(m, c.Support-1, y), drawn(m, c.Support, y)))
	}
	return holder, other
}

// assertScores compares a law with its probabilities from 0 on.
func assertScores(t *testing.T, c Count, name string, got scoreLaw, want []float64) {
	t.Helper()
	var mean, variance float64
	for y, chance := range want {
		mean += chance * float64(y)
		mass := 0.0
		if i := int64(y) - got.first; i >= 0 && i < int64(len(got.masses)) {
			mass = got.masses[i]
		}
		if math.Abs(mass-chance) > 4e-16 {
			t.Errorf("%+v, %s: P(%d) = %.17g, expected %.17g", c, name, y, mass, chance)
		}
	}
	for y, chance := range want {
		variance += chance * (float64(y) - mean) * (float64(y) - mean)
	}
	if math.Abs(got.mean-mean) > 1e-14*(1+mean) || math.Abs(got.variance-variance) > 1e-14*(1+variance) {
		t.Errorf("%+v, %s: mean %g ± %g, expected %g ± %g", c, name, got.mean, got.variance, mean, variance)
	}
}

func TestScoresAreTheDefinedOnes(t *testing.T) {
	for _, r := range []Randomiser{mustNew(t, big.NewRat(1, 1), 10), mustNew(t, big.NewRat(1, 1), 100),
		mustNew(t, big.NewRat(10, 1), 7), mustNew(t, big.NewRat(1, 20), 40),
		{Categories: 9, Support: 7, Keep: chances - 1}} {
		for m := int64(1); m < r.Categories; m++ {
			c := Count{Randomiser: r, Cells: m}
			holder, other := c.scores()
			wantHolder, wantOther := definedScores(c)
			assertScores(t, c, "holder", holder, wantHolder)
			assertScores(t, c, "other", other, wantOther)
		}
	}
}

// TestScoresAreTheListedOnes lists all reports of up to 7 categories. A is the first m of them; the respondent has any.
func TestScoresAreTheListedOnes(t *testing.T) {
	for k := 2; k <= 7; k++ {
		for w := 1; w < k; w++ {
			keep := int64(float64(chances) * (float64(w)/float64(k) + 0.8) / 1.8)
			for m := 1; m < k; m++ {
				c := Count{Randomiser: Randomiser{int64(k), int64(w), keep}, Cells: int64(m)}
				holder, other := c.scores()
				for truth := range k {
					law := map[bool]scoreLaw{true: holder, false: other}[truth < m]
					assertScores(t, c, "listed", law, listedScores(c, truth))
				}
			}
		}
	}
}

// listedScores returns the law of the score from 0 to w of a respondent with a category, by every report.
func listedScores(c Count, truth int) []float64 {
	k, w := int(c.Categories), int(c.Support)
	p := float64(c.Keep) / chances
	choose := func(n, k int) float64 { return float64(new(big.Int).Binomial(int64(n), int64(k)).Int64()) }
	law := make([]float64, w+1)
	for report := range uint(1) << k {
		if bits.OnesCount(report) != w {
			continue
		}
		chance := (1 - p) / choose(k-1, w)
		if report>>truth&1 == 1 {
			chance = p / choose(k-1, w-1)
		}
		law[bits.OnesCount(report&(1<<c.Cells-1))] += chance
	}
	return law
}

// TestAHoldersScoreIsLarger checks what the order of the tails rests on, and that a holder's score is larger by one at
// most: for each y, P(Z ≥ y) ≤ P(Y ≥ y) ≤ P(Z ≥ y−1).
func TestAHoldersScoreIsLarger(t *testing.T) {
	for _, k := range []int64{2, 5, 30} {
		for m := int64(1); m < k; m++ {
			c := Count{Randomiser: mustNew(t, big.NewRat(1, 2), k), Cells: m}
			holder, other := definedScores(c)
			var up, upOther float64
			for y := len(holder) - 1; y >= 0; y-- {
				up += holder[y]
				upOther += other[y]
				if up < upOther-1e-14 || y > 0 && up > upOther+other[y-1]+1e-14 {
					t.Errorf("%+v: P(Y ≥ %d) = %g, P(Z ≥ %d) = %g", c, y, up, y, upOther)
				}
			}
		}
	}
}

// TestLargeQuestionsHaveScores covers masses that are left out: the rest has the closed mean and variance.
func TestLargeQuestionsHaveScores(t *testing.T) {
	for _, m := range []int64{2, 1000, 1 << 19, 1<<20 - 3} {
		c := Count{Randomiser: mustNew(t, big.NewRat(1, 1), 1<<20), Cells: m}
		holder, other := c.scores()
		for _, s := range []scoreLaw{holder, other} {
			var sum, mean, variance float64
			for i, mass := range s.masses {
				away := float64(s.first+int64(i)) - s.mean
				sum += mass
				mean += mass * away
				variance += mass * away * away
			}
			if math.Abs(sum-1) > 1e-13 || math.Abs(mean) > 1e-12*s.mean ||
				math.Abs(variance-s.variance) > 1e-11*s.variance {
				t.Errorf("%+v: sum %g, mean off by %g, variance %g, expected %g", c, sum, mean, variance, s.variance)
			}
		}
	}
}

// TestWavesOfTwoScoresAreTheSum compares the closed form with the sum over the masses, which serves more values.
func TestWavesOfTwoScoresAreTheSum(t *testing.T) {
	for _, chance := range []float64{1e-9, 0.01, 0.3, 0.5, 0.7, 0.999} {
		two := scoreLaw{chance, chance * (1 - chance), 0, []float64{1 - chance, chance}}
		three := scoreLaw{chance, two.variance, -1, []float64{0, 1 - chance, chance}}
		for _, x := range []float64{1e-9, 1e-3, 0.1, 0.25, 0.4, 0.49, 0.5} {
			a, b := two.wave(x, sine(x), cosine(x)), three.wave(x, sine(x), cosine(x))
			turn := func(w scoreWave) wave { return w.polar.times(polar{0, 2 * x * float64(w.whole)}).wave() }
			za, zb := turn(a), turn(b)
			if math.Abs(za.real-zb.real) > 1e-14 || math.Abs(za.imaginary-zb.imaginary) > 1e-14 {
				t.Errorf("chance %g, x = %g: %v and %v", chance, x, za, zb)
			}
			if a.size > -0.3 && math.Abs(a.size-b.size) > -4e-15*a.size {
				t.Errorf("chance %g, x = %g: ln |φ| is %g and %g", chance, x, a.size, b.size)
			}
		}
	}
}
