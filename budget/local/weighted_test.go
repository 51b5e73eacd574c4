package local

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"testing"
)

// listed is a question all of whose reports are listed, with their probabilities under each answer.
type listed struct {
	Randomiser
	reports []uint
	chance  func(report uint, category int) float64
}

func newListed(r Randomiser) listed {
	p, _ := r.floats()
	k, w := r.Categories, r.Support
	holding, other := new(big.Int).Binomial(k-1, w-1).Int64(), new(big.Int).Binomial(k-1, w).Int64()
	l := listed{Randomiser: r, chance: func(report uint, category int) float64 {
		if report>>category&1 == 1 {
			return p / float64(holding)
		}
		return (1 - p) / float64(other)
	}}
	for report := uint(0); report < 1<<k; report++ {
		if int64(bits.OnesCount(report)) == w {
			l.reports = append(l.reports, report)
		}
	}
	return l
}

// score is the sum of the weights of the categories of a report.
func score(report uint, weights []float64) (sum float64) {
	for v, a := range weights {
		sum += a * float64(report>>v&1)
	}
	return sum
}

// moments returns the mean and the variance of the score in a report of a category.
func (l listed) moments(category int, weights []float64) (mean, variance float64) {
	for _, report := range l.reports {
		mean += l.chance(report, category) * score(report, weights)
	}
	for _, report := range l.reports {
		off := score(report, weights) - mean
		variance += l.chance(report, category) * off * off
	}
	return mean, variance
}

// eachWeighted visits questions with weights for some of their categories, and the respondents who have each category.
func eachWeighted(t *testing.T, visit func(name string, l listed, weights []float64, have []int64)) {
	for k := int64(2); k <= 8; k++ {
		for w := int64(1); w < k; w++ {
			r := Randomiser{Categories: k, Support: w, Keep: keepFor(big.NewRat(3, 1), k, w)}
			if r.check() != nil {
				t.Fatalf("k = %d, w = %d", k, w)
			}
			have := make([]int64, k)
			for v := range have {
				have[v] = int64(v*v*7%11 + 1)
			}
			all := []float64{-2, 0.5, 7, 3, 3, -1, 10, 0}
			for m := int64(1); m <= k; m++ {
				visit(fmt.Sprintf("k = %d, w = %d, %d weights", k, w, m), newListed(r), all[:m], have)
			}
		}
	}
}

// TestWeightedIsTheListedOne lists all reports of every respondent, for k ≤ 8 and all w, where all of them answer: the
// mean of the estimate is the sum of the weights, and its deviation the one stated.
func TestWeightedIsTheListedOne(t *testing.T) {
	eachWeighted(t, func(name string, l listed, weights []float64, have []int64) {
		law, parts := Weighted{Randomiser: l.Randomiser, Weights: weights}, make([]float64, len(weights))
		for _, n := range have {
			law.Respondents += n
		}
		law.Reports = law.Respondents
		p, q := l.floats()
		var want, mean, variance, sum float64
		for v, n := range have {
			if v < len(weights) {
				want += float64(n) * weights[v]
				sum += weights[v]
				parts[v] = float64(n) / float64(law.Respondents)
			}
			m, s := l.moments(v, weights)
			mean, variance = mean+float64(n)*m, variance+float64(n)*s
		}
		mean = (mean - float64(law.Respondents)*q*sum) / (p - q)
		if math.Abs(mean-want) > 1e-9*(1+math.Abs(want)) {
			t.Errorf("%s: the estimate has mean %g, want %g", name, mean, want)
		}
		wanted := math.Sqrt(variance) / (p - q)
		if got := law.Deviation(parts); math.Abs(got-wanted) > 1e-9*wanted {
			t.Errorf("%s: deviation %g, want %g", name, got, wanted)
		}
	})
}

// TestWeightedOfASample compares the deviation where some respondents answer with that of a sample without replacement:
// the reports of those who answer, and who they are.
func TestWeightedOfASample(t *testing.T) {
	eachWeighted(t, func(name string, l listed, weights []float64, have []int64) {
		law, parts := Weighted{Randomiser: l.Randomiser, Weights: weights}, make([]float64, len(weights))
		for _, n := range have {
			law.Respondents += n
		}
		law.Reports = law.Respondents/3 + 1
		p, q := l.floats()
		N, n := float64(law.Respondents), float64(law.Reports)
		var within, first, second float64
		for v, k := range have {
			m, s := l.moments(v, weights)
			within, first, second = within+float64(k)/N*s, first+float64(k)/N*m, second+float64(k)/N*m*m
			if v < len(weights) {
				parts[v] = float64(k) / N
			}
		}
		wanted := N / (p - q) * math.Sqrt((within+(second-first*first)*(N-n)/(N-1))/n)
		if got := law.Deviation(parts); math.Abs(got-wanted) > 1e-9*wanted {
			t.Errorf("%s: deviation %g, want %g", name, got, wanted)
		}
	})
}

// TestWeightedOfNumbers rounds numbers at random: the stated deviation is at least that of the estimate, where the
// numbers of all respondents are known, and is it for two points and numbers in the middle.
func TestWeightedOfNumbers(t *testing.T) {
	for points := 2; points <= 8; points++ {
		r, err := New(big.NewRat(int64(points), 2), int64(points))
		if err != nil {
			t.Fatal(err)
		}
		l, weights := newListed(r), make([]float64, points)
		for j := range weights {
			weights[j] = float64(j)
		}
		p, q := l.floats()
		for _, numbers := range [][]float64{{0.5}, {0.25}, {0, 1}, {0.5, 0.5, 0.75}, {0, 0.1, 0.2, 0.9}} {
			law := Weighted{Randomiser: r, Respondents: int64(len(numbers)), Reports: int64(len(numbers)),
				Weights: weights,
				Gap:     1}
			parts, variance := make([]float64, points), 0.0
			for _, x := range numbers {
				at := x * float64(points-1)
				below := min(int(at), points-2)
				above := at - float64(below)
				parts[below] += (1 - above) / float64(len(numbers))
				parts[below+1] += above / float64(len(numbers))
				m0, v0 := l.moments(below, weights)
				m1, v1 := l.moments(below+1, weights)
				variance += (1-above)*v0 + above*v1 + above*(1-above)*(m1-m0)*(m1-m0)
			}
			wanted, got := math.Sqrt(variance)/(p-q), law.Deviation(parts)
			if got < wanted*(1-1e-9) || points == 2 && len(numbers) == 1 && got > wanted*(1+1e-9) {
				t.Errorf("%d points, numbers %v: deviation %g, want %g", points, numbers, got, wanted)
			}
		}
	}
}

// TestMostInfluenceAmongManyCategories has one text among as many as hashes tell apart: a report holds it, which adds
// (1−q)/(p−q), or does not, which takes q/(p−q).
func TestMostInfluenceAmongManyCategories(t *testing.T) {
	r := mustNew(t, big.NewRat(2, 1), 1<<31-1)
	p, q := r.floats()
	got := Weighted{Randomiser: r, Respondents: 1, Reports: 1, Weights: []float64{1}}.MostInfluence()
	if want := max(1-q, q) / (p - q); math.Abs(got-want) > 1e-12*want {
		t.Errorf("influence %g, want %g", got, want)
	}
}

// TestMostInfluenceOfWeighted adds every report to some that say nothing.
func TestMostInfluenceOfWeighted(t *testing.T) {
	eachWeighted(t, func(name string, l listed, weights []float64, _ []int64) {
		law := Weighted{Randomiser: l.Randomiser, Respondents: 30, Reports: 10, Weights: weights}
		most := 0.0
		for _, report := range l.reports {
			supports := make([]int64, len(weights))
			for v := range supports {
				supports[v] = int64(report >> v & 1)
			}
			one := Weighted{Randomiser: l.Randomiser, Respondents: 3, Reports: 1, Weights: weights}
			most = math.Max(most, math.Abs(one.Estimate(supports)))
		}
		if got := law.MostInfluence(); math.Abs(got-most) > 1e-9*most {
			t.Errorf("%s: influence %g, want %g", name, got, most)
		}
	})
}
