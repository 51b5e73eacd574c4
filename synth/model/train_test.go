package model

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/plan/boosting"
)

// oracle answers rounds from cells of codes, the target last, with Gaussian noise rounded to integers.
type oracle struct {
	shape       *boosting.Shape
	cells       []cell
	random      *rand.Rand // nil: no noise
	exactCounts bool       // no noise in the rounds that count
	residuals   *boosting.Residuals
	asked       []boosting.Question
}

// cell is equal rows.
type cell struct {
	codes []int
	count int64
}

// cellsOf returns the distinct rows of codes.
func cellsOf(rows [][]int) (all []cell) {
	at := map[string]int{}
	for _, row := range rows {
		key := fmt.Sprint(row)
		i, seen := at[key]
		if !seen {
			i, at[key] = len(all), len(all)
			all = append(all, cell{codes: row})
		}
		all[i].count++
	}
	return all
}

func (o *oracle) Answer(_ context.Context, _ int, q boosting.Question) ([]int64, error) {
	o.asked = append(o.asked, q)
	if o.residuals == nil {
		o.residuals = o.shape.Residuals()
	}
	answer := make([]int64, q.Len(o.shape))
	for _, c := range o.cells {
		target := c.codes[len(c.codes)-1]
		switch {
		case q.Column == o.shape.Target():
			answer[target] += c.count
		case q.Scores == nil:
			answer[c.codes[q.Column]] += c.count
		default:
			residual := o.residuals.Of(target, q.Scores.Of(o.shape, c.codes))
			answer[q.Groups[o.shape.Category(q.Column, c.codes)]] += c.count * int64(residual)
		}
	}
	sigma := math.Sqrt(o.shape.SumVariance)
	if q.Scores == nil {
		sigma = math.Sqrt(o.shape.CountVariance)
	}
	for i := range answer {
		if o.random != nil && (q.Scores != nil || !o.exactCounts) {
			answer[i] += int64(math.Round(o.random.NormFloat64() * sigma))
		}
	}
	return answer, nil
}

// smallShape returns a shape of three columns for a link.
func smallShape(link boosting.Link) *boosting.Shape {
	s := &boosting.Shape{
		Columns:  []boosting.Column{{Categories: 12, Ordered: true}, {Categories: 3}, {Categories: 1}},
		Link:     link,
		Outcomes: []int64{0, 1},
		Schedule: boosting.Schedule{Epochs: 20, Groups: 4, Rate: .3},
	}
	if link != boosting.Logit {
		s.Outcomes = []int64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}
	}
	return s
}

// withPairs adds pairs to a small shape, with the columns of each in another order than in rows.
func withPairs(s *boosting.Shape) *boosting.Shape {
	s.Pairs = [][2]int{{1, 0}, {2, 0}}
	return s
}

// smallRows returns rows whose outcome depends on the first two columns, and the mean of each.
func smallRows(random *rand.Rand, s *boosting.Shape, n int) (rows [][]int, means []float64) {
	for range n {
		row := []int{random.IntN(12), random.IntN(3), 0}
		score := (float64(row[0])-5.5)/4 + float64(row[1]) - 1
		target, mean := 0, 0.0
		switch s.Link {
		case boosting.Logit:
			mean = 1 / (1 + math.Exp(-score))
			if random.Float64() < mean {
				target = 1
			}
		case boosting.Identity:
			mean = 6 + 2*score
			target = int(math.Round(min(max(mean+random.NormFloat64(), 0), 12)))
		default:
			mean = math.Exp(score / 2)
			for left := random.ExpFloat64(); left < mean && target < 12; left += random.ExpFloat64() {
				target++
			}
		}
		rows, means = append(rows, append(row, target)), append(means, mean)
	}
	return rows, means
}

var links = []boosting.Link{boosting.Logit, boosting.Identity, boosting.Log}

// TestFits compares means with those that the rows were drawn from, without noise and with a little.
func TestFits(t *testing.T) {
	for _, link := range links {
		s := smallShape(link)
		rows, means := smallRows(rand.New(rand.NewPCG(1, 1)), s, 20_000)
		for _, sigma := range []float64{0, 20} {
			s.CountVariance, s.SumVariance = sigma*sigma, sigma*sigma*boosting.Bound*boosting.Bound
			random := rand.New(rand.NewPCG(2, 2))
			m, err := Train(t.Context(), s, &oracle{shape: s, cells: cellsOf(rows), random: random})
			if err != nil {
				t.Fatal(err)
			}
			sum, spread, mean := 0.0, 0.0, 0.0
			for i, row := range rows {
				d := m.Mean(row[:3]) - means[i]
				sum, spread, mean = sum+d*d, spread+means[i]*means[i], mean+means[i]
			}
			n := float64(len(rows))
			if left := sum / (spread - mean*mean/n); !(left < .02) {
				t.Errorf("%s, noise %v: %.4f of the variance of means is left", link, sigma, left)
			}
			if m.Importance[2] != 0 || !(m.Importance[0] > m.Importance[1]/2) || !(m.Importance[1] > 0) {
				t.Errorf("%s: importance %v", link, m.Importance)
			}
		}
	}
}

// TestQuestionsAreThoseOfTheShape: every question is one that the oracle may accept, whatever the answers are, and
// entries are finite.
func TestQuestionsAreThoseOfTheShape(t *testing.T) {
	for _, link := range links {
		for name, answer := range map[string]func(random *rand.Rand) int64{
			"zeros":    func(*rand.Rand) int64 { return 0 },
			"negative": func(*rand.Rand) int64 { return -1 << 61 },
			"largest":  func(*rand.Rand) int64 { return 1 << 61 },
			"wild":     func(random *rand.Rand) int64 { return random.Int64() >> random.IntN(60) },
			"signs": func(random *rand.Rand) int64 {
				return (random.Int64() >> random.IntN(60)) * int64(1-2*random.IntN(2))
			},
		} {
			for _, variance := range []float64{0, 1e-300, 1, 1e12, math.MaxFloat64} {
				s := withPairs(smallShape(link))
				s.CountVariance, s.SumVariance = variance, variance
				m, err := Train(t.Context(), s, made{s, answer, rand.New(rand.NewPCG(1, 1))})
				if err != nil {
					t.Fatalf("%s, %s, variance %v: %v", link, name, variance, err)
				}
				for c := range s.Tables() {
					for k := range m.Errors[c] {
						if !(m.Errors[c][k] >= 0 && m.Errors[c][k] <= math.MaxFloat64) {
							t.Errorf("%s, %s, variance %v: error %v", link, name, variance, m.Errors[c][k])
						}
					}
				}
				var classes []string
				if link == boosting.Logit {
					classes = []string{"no", "yes"}
				}
				p, err := m.Publish("target", smallLabels(), classes)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := json.Marshal(p); err != nil {
					t.Errorf("%s, %s, variance %v: %v", link, name, variance, err)
				}
			}
		}
	}
}

// made answers with integers of its own, and fails if a question is none of its shape.
type made struct {
	shape  *boosting.Shape
	answer func(*rand.Rand) int64
	random *rand.Rand
}

func (o made) Answer(_ context.Context, round int, q boosting.Question) ([]int64, error) {
	if err := o.shape.CheckQuestion(round, q); err != nil {
		return nil, err
	}
	answer := make([]int64, q.Len(o.shape))
	for i := range answer {
		answer[i] = o.answer(o.random)
	}
	return answer, nil
}

// TestDegenerateRows: one class only, one category only, no rows, and far fewer rows than the noise. Means are those
// of a person who knows nothing else.
func TestDegenerateRows(t *testing.T) {
	repeat := func(n int, row ...int) (all [][]int) {
		for range n {
			all = append(all, row)
		}
		return all
	}
	for name, c := range map[string]struct {
		rows      [][]int
		sigma     float64
		low, high float64 // of the mean of the first row, or of any
	}{
		"no rows":               {nil, 0, .4, .6},
		"one row":               {repeat(1, 0, 0, 0, 1), 0, .5, 1},
		"class 0 only":          {repeat(5000, 3, 1, 0, 0), 5, 0, .02},
		"class 1 only":          {repeat(5000, 3, 1, 0, 1), 5, .98, 1},
		"one category":          {append(repeat(3000, 3, 1, 0, 1), repeat(1000, 3, 1, 0, 0)...), 5, .73, .77},
		"few rows, much noise":  {repeat(5, 3, 1, 0, 1), 1000, 0, 1},
		"rare class, some rows": {append(repeat(10, 3, 1, 0, 1), repeat(10_000, 3, 1, 0, 0)...), 1, 0, .003},
	} {
		t.Run(name, func(t *testing.T) {
			s := smallShape(boosting.Logit)
			s.CountVariance, s.SumVariance = c.sigma*c.sigma, c.sigma*c.sigma*boosting.Bound*boosting.Bound
			random := rand.New(rand.NewPCG(3, 3))
			m, err := Train(t.Context(), s, &oracle{shape: s, cells: cellsOf(c.rows), random: random})
			if err != nil {
				t.Fatal(err)
			}
			row := []int{3, 1, 0}
			if len(c.rows) > 0 {
				row = c.rows[0][:3]
			}
			if mean := m.Mean(row); !(mean >= c.low && mean <= c.high) {
				t.Errorf("mean %v, want %v to %v", mean, c.low, c.high)
			}
		})
	}
}

// TestRareClassIsLearned: with one row in a hundred of class 1, rates follow the curvature of rare classes.
func TestRareClassIsLearned(t *testing.T) {
	s := smallShape(boosting.Logit)
	random := rand.New(rand.NewPCG(4, 4))
	var rows [][]int
	for range 40_000 {
		row := []int{random.IntN(12), random.IntN(3), 0, 0}
		if random.Float64() < []float64{.002, .006, .02}[row[1]] {
			row[3] = 1
		}
		rows = append(rows, row)
	}
	m, err := Train(t.Context(), s, &oracle{shape: s, cells: cellsOf(rows)})
	if err != nil {
		t.Fatal(err)
	}
	got := float64(m.Scores.Tables[1][2]-m.Scores.Tables[1][0]) / boosting.ScoreUnit
	if math.Abs(got-math.Log(10)) > .4 {
		t.Errorf("the score of ten times the chance is %.2f higher, want about %.2f", got, math.Log(10))
	}
}

// TestTrainingIsDeterministic: equal answers lead to equal questions and an equal model.
func TestTrainingIsDeterministic(t *testing.T) {
	s := smallShape(boosting.Logit)
	s.CountVariance, s.SumVariance = 100, 100*boosting.Bound*boosting.Bound
	rows, _ := smallRows(rand.New(rand.NewPCG(1, 1)), s, 500)
	var last *Additive
	var asked []boosting.Question
	for range 2 {
		o := &oracle{shape: s, cells: cellsOf(rows), random: rand.New(rand.NewPCG(5, 5))}
		m, err := Train(t.Context(), s, o)
		if err != nil {
			t.Fatal(err)
		}
		if last != nil && (!reflect.DeepEqual(m, last) || !reflect.DeepEqual(o.asked, asked)) {
			t.Error("another model, or other questions")
		}
		last, asked = m, o.asked
	}
}

// failing is an oracle that fails, or answers with too few integers.
type failing struct{ err error }

func (o failing) Answer(context.Context, int, boosting.Question) ([]int64, error) { return nil, o.err }

func TestTrainingFails(t *testing.T) {
	broken := errors.New("broken")
	if _, err := Train(t.Context(), smallShape(boosting.Logit), failing{broken}); !errors.Is(err, broken) ||
		!strings.HasPrefix(err.Error(), "round 1 of") {
		t.Error(err)
	}
	if _, err := Train(t.Context(), smallShape(boosting.Logit), failing{}); err == nil {
		t.Error("a short answer is accepted")
	}
	if _, err := Train(t.Context(), &boosting.Shape{}, failing{}); err == nil {
		t.Error("no shape is accepted")
	}
}
