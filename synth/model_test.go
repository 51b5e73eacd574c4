package synth

import (
	"math"
	"math/big"
	"testing"

	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/plan/adaptive"
)

// TestCombinedIsLeastSquares compares the variance of fitted counts, over 20,000 draws of the noise, with that of least
// squares. Columns have 2 and 3 categories and noise of variance 100, their pair has noise of variance 300, and all
// counts are far from zero. The total is known with variance T = 1/(1/200 + 1/300) = 120. The first column's effect is
// known from itself with variance 100 and from the pair with 3·300, together 1/(1/100 + 1/900) = 90 a category before
// its mean is subtracted; the second's likewise with 2·300, 1/(1/100 + 1/600) = 600/7. The interaction is known only
// from the pair. So the variances of a category of the first and of the second column, and of a cell of the pair, are
//
//	T/4 + 90/2 = 75,   T/9 + 600/7·2/3 = 70.476,   T/36 + 90/2/9 + 600/7·2/3/4 + 300·1/2·2/3 = 122.619.
//
// Weights of 1/σ for 1/σ² make the first T/4 + 112.5/2 = 86.3. Variances measured over n draws have a relative standard
// deviation of √(2/n) = 0.01; 6.5 of that is 0.065, which the noise passes with a probability below 1e-9.
func TestCombinedIsLeastSquares(t *testing.T) {
	const draws = 20_000
	s := plannedSetting(t, []int{2, 3}, 0, big.NewRat(100, 1), big.NewRat(300, 1), big.NewRat(1, 1))
	streams := noise.NewStreams(noise.Key{1}, "variance")
	answer := func(id string, parameter int64, draw int, exact ...int64) []int64 {
		err := noise.AddDiscreteGaussian(streams.Noise([]byte(id), nil, draw), big.NewRat(parameter, 1), exact)
		if err != nil {
			t.Fatal(err)
		}
		return exact
	}
	var first, second, cell, total moments
	for draw := range draws {
		out := s.sealedAnswers(t, [][]int64{
			answer("first", 100, draw, 50_000, 70_000),
			answer("second", 100, draw, 30_000, 50_000, 40_000),
		}, map[[2]int][]int64{{0, 1}: answer("pair", 300, draw, 10_000, 20_000, 20_000, 20_000, 30_000, 20_000)},
			[2]int{0, 1})
		n, variance := totalOf(out.Measured)
		if math.Abs(variance-120) > 1e-9 {
			t.Fatalf("the variance of the total is said to be %v, expected 120", variance)
		}
		m := fitTree(t.Context(), n, out.Measured, adaptive.Candidates(s.synthetic), out.Rounds[0].All)
		total.add(n - 120_000)
		first.add(m.columns[0][1] - 70_000)
		second.add(m.columns[1][2] - 40_000)
		cell.add(m.pairs[0].counts[4] - 30_000)
	}
	for _, c := range []struct {
		what string
		got  moments
		want float64
	}{
		{"total", total, 120},
		{"first column", first, 75},
		{"second column", second, 120.0/9 + 400.0/7},
		{"pair", cell, 120.0/36 + 5 + 100.0/7 + 100},
	} {
		mean, variance := c.got.mean(), c.got.variance()
		if math.Abs(variance/c.want-1) > 0.065 {
			t.Errorf("%s: variance %v, expected %v", c.what, variance, c.want)
		}
		if math.Abs(mean) > 6.5*math.Sqrt(c.want/draws) {
			t.Errorf("%s: off by %v in the mean", c.what, mean)
		}
	}
}

// moments are the moments of a sample.
type moments struct{ n, sum, squares float64 }

func (m *moments) add(x float64)    { m.n, m.sum, m.squares = m.n+1, m.sum+x, m.squares+x*x }
func (m moments) mean() float64     { return m.sum / m.n }
func (m moments) variance() float64 { return m.squares/m.n - m.mean()*m.mean() }

// TestCombinedByHand: to a total of 40 the first lacks 5 a category and the second is 1 over; weights are 4 to 1.
func TestCombinedByHand(t *testing.T) {
	e := pooledEvidence([]evidence{{[]float64{10, 20}, 1}, {[]float64{13, 29}, 4}}, 40)
	for i, want := range []float64{14.4, 25.6} {
		if math.Abs(e.counts[i]-want) > 1e-12 || math.Abs(e.variance-0.8) > 1e-12 {
			t.Errorf("category %d has %v with variance %v, expected %v with 0.8", i, e.counts[i], e.variance, want)
		}
	}
}

func TestHiddenCategoriesAreOne(t *testing.T) {
	// σ = 2: 90 and 9 are visible; 2 and −1 are hidden and have the shares 2 + 1 and 0 + 1 of 4.
	c := classesOf(evidence{[]float64{90, 2, -1, 9}, 4})
	for i, want := range []struct {
		class       int
		size, share float64
	}{{0, 1, 1}, {1, 2, 0.75}, {1, 2, 0.25}, {2, 1, 1}} {
		if c.of[i] != want.class || c.size[c.of[i]] != want.size || math.Abs(c.share[i]-want.share) > 1e-15 {
			t.Errorf("category %d is %v of class %d with %v", i, c.share[i], c.of[i], c.size[c.of[i]])
		}
	}
	// Their total is 100. For 80, 5 less each would leave the hidden ones below zero; without them 9.5 less each would
	// leave the last one below zero; so the first has all.
	for i, want := range []float64{80, 0, 0, 0} {
		got := c.categoryCounts(c.fittedCounts(evidence{[]float64{90, 2, -1, 9}, 4}, 80))[i]
		if math.Abs(got-want) > 1e-12 {
			t.Errorf("category %d has %v of 80, expected %v", i, got, want)
		}
	}
	for i, want := range []float64{92.5, 4.5, 1.5, 11.5} { // 110: each 2.5 more, 3 + 3 of which are divided 3 to 1
		got := c.categoryCounts(c.fittedCounts(evidence{[]float64{90, 2, -1, 9}, 4}, 110))[i]
		if math.Abs(got-want) > 1e-12 {
			t.Errorf("category %d has %v of 110, expected %v", i, got, want)
		}
	}
}

// TestFitIsALaw fits noisy tables of four columns along a tree, with noise from slight to larger than any count. Every
// table of the model agrees with its columns, and the law that they determine has exactly these tables.
func TestFitIsALaw(t *testing.T) {
	sizes := []int{2, 3, 2, 3}
	slight := plannedSetting(t, sizes, 0, big.NewRat(4, 1), big.NewRat(4, 1), big.NewRat(1, 1))
	// some of the categories
	hiding := plannedSetting(t, sizes, 0, big.NewRat(20_000, 1), big.NewRat(20_000, 1), big.NewRat(1, 1))
	truth := chainedModel(1000)
	r := seededStream([32]byte{12})
	for trial := range 200 {
		s, spread := []setting{slight, hiding}[trial%2], math.Ldexp(1, trial/2%14)
		noisy := func(counts []float64) []int64 {
			out := make([]int64, len(counts))
			for i, c := range counts {
				out[i] = int64(c + (r.unit()-0.5)*spread)
			}
			return out
		}
		var columns [][]int64
		for _, c := range truth.columns {
			columns = append(columns, noisy(c))
		}
		pairs := map[[2]int][]int64{}
		for _, p := range truth.pairs {
			pairs[[2]int(p.pair)] = noisy(p.counts)
		}
		out := s.sealedAnswers(t, columns, pairs, [2]int{1, 3}, [2]int{0, 1}, [2]int{1, 2})
		total, _ := totalOf(out.Measured)
		m := fitTree(t.Context(), max(total, 1), out.Measured, adaptive.Candidates(s.synthetic), out.Rounds[0].All)
		for _, p := range m.pairs {
			checkSums(t, p.counts, m.columns[p.pair[0]], m.columns[p.pair[1]])
		}
		m.checkJoint(t)
		if t.Failed() {
			t.Fatalf("in trial %d", trial)
		}
	}
}
