package synth

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/budget/local"
	"github.com/dprelease/dprelease/internal/testkit"
)

// numberCase is a collection of numbers: what the respondents of each group answer, from 0 to 1.
type numberCase struct {
	name    string
	epsilon *big.Rat
	points  int
	answers [][]float64 // by group, repeated until there are enough
	one     int         // one in so many answers the question
}

// numberCases have few answers, many, of the middle and of the ends of the range, and groups of which one is small.
var numberCases = []numberCase{
	{"all in the middle, one bit", big.NewRat(1, 1), 2, [][]float64{{0.4}}, 1},
	{"at the ends, one bit", big.NewRat(1, 2), 2, [][]float64{{0, 1, 0, 0}}, 1},
	{"spread, three points", big.NewRat(2, 1), 3, [][]float64{{0.05, 0.1, 0.2, 0.5}}, 1},
	{"all at one end, three points", big.NewRat(2, 1), 3, [][]float64{{0}}, 1},
	{"a sample, six points", big.NewRat(4, 1), 6, [][]float64{{0.05, 0.1, 0.2, 0.95}}, 3},
	{"two groups, sets of two", big.NewRat(1, 2), 3, [][]float64{{0.2, 0.3}, {0.9, 0.4}}, 1},
	{"a small group", big.NewRat(2, 1), 3, [][]float64{{0, 0, 0, 0.5, 0, 0}, {1}}, 2},
}

// draw draws reports of all respondents who answer, as devices do, and returns how many hold each category.
func (c numberCase) draw(r local.Randomiser, respondents, reports int, random *rand.Rand) []int64 {
	supports := make([]int64, r.Categories)
	left := reports
	for i := range respondents {
		if random.IntN(respondents-i) >= left {
			continue // does not answer
		}
		left--
		group, x := c.answerOf(i)
		at := x * float64(c.points-1)
		point := int(at)
		if random.Float64() < at-float64(point) {
			point++
		}
		own := group*c.points + point
		more, held := r.Support, uint64(1)<<own
		if random.Int64N(1<<local.ChanceBits) < r.Keep {
			more--
			supports[own]++
		}
		for more > 0 {
			if v := random.IntN(int(r.Categories)); held>>v&1 == 0 {
				held |= 1 << v
				supports[v]++
				more--
			}
		}
	}
	return supports
}

// answerOf returns the group and the number of a respondent.
func (c numberCase) answerOf(i int) (group int, x float64) {
	all := 0
	for _, of := range c.answers {
		all += len(of)
	}
	i %= all
	for group, of := range c.answers {
		if i < len(of) {
			return group, of[i]
		}
		i -= len(of)
	}
	panic("no answer")
}

// TestIntervalsOfNumbersCover draws 20 000 collections of each case. The intervals of sums and means cover in at least
// 95 % of them (where a mean has none, nothing is claimed), less 6.1 standard errors of the simulation: by chance it fails in one of 10^9 runs; intervals that are
// a tenth shorter cover 92 %, and pass in fewer than one of 10^9. The estimates of sums have the mean of the true ones
// within 6.1 standard errors.
func TestIntervalsOfNumbersCover(t *testing.T) {
	testkit.SkipPassed(t)
	const runs, respondents, sigmas = 20_000, 360, 6.1
	for number, c := range numberCases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r, err := local.New(c.epsilon, int64(len(c.answers)*c.points))
			if err != nil {
				t.Fatal(err)
			}
			reports, random := respondents/c.one, rand.New(rand.NewPCG(7, uint64(number)))
			n := reportNumber{values: make([]float64, c.points), normal: budget.NormalQuantile((1 - confidence) / 2),
				law: local.Weighted{Randomiser: r, Respondents: respondents, Reports: int64(reports), Gap: 1 / float64(c.points-1)}}
			for j := range n.values {
				n.values[j] = float64(j) / float64(c.points-1)
			}
			sums, counts := make([]float64, len(c.answers)), make([]float64, len(c.answers))
			for i := range respondents {
				group, x := c.answerOf(i)
				sums[group], counts[group] = sums[group]+x, counts[group]+1
			}
			covered, means, off, squares := make([]int, len(sums)), make([]int, len(sums)), make([]float64, len(sums)),
				make([]float64, len(sums))
			for range runs {
				n.supports = c.draw(r, respondents, reports, random)
				for group, sum := range sums {
					s, m := n.sum(group), n.mean(group)
					if s.Low <= sum && sum <= s.High {
						covered[group]++
					}
					if mean := sum / counts[group]; !m.HasInterval() || m.Low <= mean && mean <= m.High {
						means[group]++
					}
					off[group] += s.Estimate - sum
					squares[group] += (s.Estimate - sum) * (s.Estimate - sum)
				}
			}
			least := int(runs*0.95 - sigmas*math.Sqrt(runs*0.95*0.05))
			for group := range sums {
				if covered[group] < least || means[group] < least {
					t.Errorf("group %d: of %d intervals of the sum %d cover, of the mean %d, want %d", group, runs,
						covered[group], means[group], least)
				}
				if bias := off[group] / math.Sqrt(squares[group]); math.Abs(bias) > sigmas {
					t.Errorf("group %d: the sums are off by %.1f standard errors on average", group, bias)
				}
				t.Logf("group %d: coverage %.4f of sums, %.4f of means", group, float64(covered[group])/runs,
					float64(means[group])/runs)
			}
		})
	}
}
