package local

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// combinedCase is a few respondents who are asked two questions about the same answers, of which each draws one, or
// none.
type combinedCase struct {
	law       Combined
	questions []listed
	answers   [][]int // the categories of each respondent, by question
}

// combinedCases have 4 and 5 respondents, questions of 2 to 4 categories, and any weights.
func combinedCases(t *testing.T) (all []combinedCase) {
	t.Helper()
	for _, c := range []struct {
		categories [2]int64
		supports   [2]int64
		reports    [2]int64
		answers    [][]int
	}{
		{[2]int64{4, 2}, [2]int64{2, 1}, [2]int64{2, 1}, [][]int{{0, 0}, {1, 0}, {2, 1}, {3, 1}}},
		{[2]int64{3, 2}, [2]int64{1, 1}, [2]int64{2, 2}, [][]int{{0, 0}, {0, 0}, {1, 0}, {2, 1}}},
		{[2]int64{3, 3}, [2]int64{1, 2}, [2]int64{1, 2}, [][]int{{0, 0}, {1, 1}, {1, 1}, {1, 1}, {2, 2}}},
		{[2]int64{2, 4}, [2]int64{1, 1}, [2]int64{3, 1}, [][]int{{0, 1}, {0, 2}, {1, 3}, {1, 3}}},
	} {
		one := combinedCase{law: Combined{Respondents: int64(len(c.answers)), Constant: -2.5}, answers: c.answers}
		for h := range c.categories {
			r := Randomiser{Categories: c.categories[h], Support: c.supports[h],
				Keep: keepFor(big.NewRat(5, 2), c.categories[h], c.supports[h])}
			one.questions = append(one.questions, newListed(r))
			one.law.Questions = append(one.law.Questions, Weighted{Randomiser: r, Respondents: one.law.Respondents,
				Reports: c.reports[h], Weights: []float64{1.5, -0.5, 3, 0.25}[:c.categories[h]]})
		}
		all = append(all, one)
	}
	return all
}

// total returns c(x), summed over the respondents, and its variance among them.
func (c combinedCase) total() (sum, among float64) {
	each := make([]float64, len(c.answers))
	for i, answer := range c.answers {
		each[i] = c.law.Constant / float64(c.law.Respondents)
		for h, v := range answer {
			each[i] += c.law.Questions[h].Weights[v]
		}
		sum += each[i]
	}
	for _, x := range each {
		off := x - sum/float64(len(each))
		among += off * off / float64(len(each))
	}
	return sum, among
}

// partsOf returns the parts of the respondents with each category of the questions.
func (c combinedCase) partsOf() [][]float64 {
	parts := make([][]float64, len(c.questions))
	for h, q := range c.questions {
		parts[h] = make([]float64, q.Categories)
		for _, answer := range c.answers {
			parts[h][answer[h]] += 1 / float64(len(c.answers))
		}
	}
	return parts
}

// visit lists everything that may happen: who draws which question, all ways being equally likely that give the
// questions their numbers of reports, and what each reports.
func (c combinedCase) visit(respondent int, left []int64, chance float64, supports [][]int64,
	each func(chance float64, supports [][]int64)) {
	if respondent == len(c.answers) {
		if left[0] == 0 && left[1] == 0 {
			each(chance, supports)
		}
		return
	}
	c.visit(respondent+1, left, chance, supports, each) // answers no question
	for h, q := range c.questions {
		if left[h] == 0 {
			continue
		}
		left[h]--
		for _, report := range q.reports {
			for v := range supports[h] {
				supports[h][v] += int64(report >> v & 1)
			}
			c.visit(respondent+1, left, chance*q.chance(report, c.answers[respondent][h]), supports, each)
			for v := range supports[h] {
				supports[h][v] -= int64(report >> v & 1)
			}
		}
		left[h]++
	}
}

// TestCombinedIsTheListedOne lists all that a few devices can draw and report. The estimate has the mean Σ c(x), and
// the deviation that is stated.
func TestCombinedIsTheListedOne(t *testing.T) {
	for i, c := range combinedCases(t) {
		var all, mean, square float64
		supports := make([][]int64, len(c.questions))
		for h, q := range c.questions {
			supports[h] = make([]int64, q.Categories)
		}
		c.visit(0, []int64{c.law.Questions[0].Reports, c.law.Questions[1].Reports}, 1, supports,
			func(chance float64, supports [][]int64) {
				x := c.law.Estimate(supports)
				all, mean, square = all+chance, mean+chance*x, square+chance*x*x
			})
		mean, square = mean/all, square/all
		sum, among := c.total()
		if math.Abs(mean-sum) > 1e-9 {
			t.Errorf("case %d: the estimate has mean %g, want %g", i, mean, sum)
		}
		want := math.Sqrt(square - mean*mean)
		if got := c.law.Deviation(c.partsOf(), among); math.Abs(got-want) > 1e-9*want {
			t.Errorf("case %d: deviation %g, want %g", i, got, want)
		}
		if off := c.law.Deviation(c.partsOf(), 0); math.Abs(off-want) < 1e-3*want {
			t.Errorf("case %d: what the answers vary among respondents does not matter", i)
		}
	}
}

// TestMostDeviationBounds draws parts of the respondents at random, also those who all give one answer, and compares
// the deviation with its bound, which is no more than a third above the largest.
func TestMostDeviationBounds(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 3))
	for i, c := range combinedCases(t) {
		most := c.law.MostDeviation(c.answers)
		largest := 0.0
		for range 3000 {
			parts := make([][]float64, len(c.questions))
			for h, q := range c.questions {
				parts[h] = make([]float64, q.Categories)
			}
			weights, all := make([]float64, len(c.answers)), 0.0
			for j := range weights {
				weights[j] = math.Pow(random.Float64(), 8)
				all += weights[j]
			}
			for j, answer := range c.answers {
				for h, v := range answer {
					parts[h][v] += weights[j] / all
				}
			}
			largest = max(largest, c.law.Deviation(parts, 0))
		}
		if largest > most || largest < 0.75*most {
			t.Errorf("case %d: deviations up to %g, and the bound %g", i, largest, most)
		}
	}
}
