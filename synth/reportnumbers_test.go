package synth

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

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
		drawSet(r, group*c.points+point, supports, random)
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
// 95 % of them (where a mean has none, nothing is claimed), less 6.1 standard errors of the simulation: by chance it
// fails in one of 10^9 runs; intervals that are a tenth shorter cover 92 %, and pass in fewer than one of 10^9. The
// estimates of sums have the mean of the true ones within 6.1 standard errors.
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
			values := make([]float64, c.points)
			for j := range values {
				values[j] = float64(j) / float64(c.points-1)
			}
			n := newReportNumber(values, local.Weighted{Randomiser: r, Respondents: respondents,
				Reports: int64(reports)},
				make([]int64, r.Categories))
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

// TestNumbersFarFromZero adds a large number to all numbers: means and sums move by it, and standard errors of means,
// and of sums of all respondents, stay as they are.
func TestNumbersFarFromZero(t *testing.T) {
	for _, c := range numberCases {
		r, err := local.New(c.epsilon, int64(len(c.answers)*c.points))
		if err != nil {
			t.Fatal(err)
		}
		law := local.Weighted{Randomiser: r, Respondents: 360, Reports: int64(360 / c.one)}
		supports := c.draw(r, 360, 360/c.one, rand.New(rand.NewPCG(7, 7)))
		values, far := make([]float64, c.points), make([]float64, c.points)
		const base = 1 << 30
		for j := range values {
			values[j] = float64(j) / float64(c.points-1)
			far[j] = base + values[j]
		}
		near, moved := newReportNumber(values, law, supports), newReportNumber(far, law, supports)
		for cell := range c.answers {
			a, b := near.mean(cell), moved.mean(cell)
			if a.Flag != b.Flag || a.HasInterval() && (math.Abs(b.Value-base-a.Value) > 1e-5 ||
				math.Abs(b.Error-a.Error) > 1e-5 || math.Abs(b.Low-base-a.Low) > 1e-5 ||
				math.Abs(b.High-base-a.High) > 1e-5) {
				t.Errorf("%s: %+v, moved by %d: %+v", c.name, a, base, b)
			}
			if a, b := near.sum(cell), moved.sum(cell); len(c.answers) == 1 &&
				(math.Abs(b.Estimate-360*base-a.Estimate) > 1e-3 || math.Abs(b.Error-a.Error) > 1e-3) {
				t.Errorf("%s: sum %+v, moved by %d: %+v", c.name, a, base, b)
			}
		}
	}
}
