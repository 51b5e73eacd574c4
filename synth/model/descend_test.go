package model

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/dprelease/dprelease/plan/boosting"
	"github.com/dprelease/dprelease/plan/design"
	"gonum.org/v1/gonum/mat"
)

// descentRows are rows of a number, a category of three and a contrast, whose class follows a logistic law.
type descentRows struct {
	shape *boosting.Shape
	codes [][]int
}

// drawDescentRows draws rows. The number is from -4 to 6.
func drawDescentRows(t *testing.T, n int, seed uint64, descent boosting.Descent) descentRows {
	t.Helper()
	columns := []design.Column{{Name: "x"}, {Name: "c", Categories: []string{"p", "q", "r"}},
		{Name: "s", Categories: []string{"no", "yes"}}, {Name: "t", Categories: []string{"no", "yes"}}}
	for v := range int64(11) {
		columns[0].Values = append(columns[0].Values, v-4)
	}
	of, err := design.New(columns, 1)
	if err != nil {
		t.Fatal(err)
	}
	d := descentRows{shape: &boosting.Shape{Link: boosting.Logit, Outcomes: []int64{0, 1}, Design: of, Descent: descent,
		Columns: []boosting.Column{{Categories: 11, Ordered: true}, {Categories: 3}, {Categories: 2}}}}
	random := rand.New(rand.NewPCG(seed, 9))
	for range n {
		row := []int{random.IntN(11), random.IntN(3), random.IntN(2), 0}
		score := -1 + .25*float64(row[0]-4) + []float64{-.5, .2, .6}[row[1]] + .4*float64(2*row[2]-1)
		if random.Float64() < 1/(1+math.Exp(-score)) {
			row[3] = 1
		}
		d.codes = append(d.codes, row)
	}
	return d
}

// features returns the features of a row, of which none is above 1.
func (d descentRows) features(row []int) []float64 {
	x := make([]float64, 6)
	x[0], x[1], x[2+row[1]], x[5] = 1, float64(row[0]-5)/5, 1, float64(2*row[2]-1)
	return x
}

// Answer answers a round without noise.
func (d descentRows) Answer(_ context.Context, round int, q boosting.Question) ([]int64, error) {
	if err := d.shape.CheckQuestion(round, q); err != nil {
		return nil, err
	}
	of := make([]int64, q.Len(d.shape))
	units := d.shape.Design.Encodings()
	for _, row := range d.codes {
		if q.Scores == nil {
			of[row[3]]++
			continue
		}
		residual := float64(d.shape.Residuals().Of(row[3], q.Scores.Of(d.shape, row[:3])))
		for j, x := range d.features(row) {
			unit := float64(design.Scale)
			if j == 1 {
				unit = float64(units[1].Unit)
			}
			of[j] += int64(math.Round(residual * x * unit))
		}
	}
	return of, nil
}

// likeliest returns the scores of all rows by the weights of the largest likelihood, by Newton's method.
func (d descentRows) likeliest() []float64 {
	const n = 6
	w := mat.NewVecDense(n, nil)
	for range 30 {
		gradient, hessian := mat.NewVecDense(n, nil), mat.NewSymDense(n, nil)
		for j := range n {
			hessian.SetSym(j, j, 1e-6) // the categories add up to the intercept
		}
		for _, row := range d.codes {
			x := mat.NewVecDense(n, d.features(row))
			p := 1 / (1 + math.Exp(-mat.Dot(x, w)))
			gradient.AddScaledVec(gradient, float64(row[3])-p, x)
			hessian.SymRankOne(hessian, p*(1-p), x)
		}
		var step mat.VecDense
		if err := step.SolveVec(hessian, gradient); err != nil {
			panic(err)
		}
		w.AddVec(w, &step)
	}
	var scores []float64
	for _, row := range d.codes {
		scores = append(scores, mat.Dot(mat.NewVecDense(n, d.features(row)), w))
	}
	return scores
}

// TestDescentComesToTheLargestLikelihood: a long descent without noise gives rows the scores of the regression of the
// largest likelihood, as published and as asked.
func TestDescentComesToTheLargestLikelihood(t *testing.T) {
	d := drawDescentRows(t, 5000, 1, boosting.Descent{Rounds: 900, Steps: 1, Rate: .9})
	fitted, err := Descend(t.Context(), d.shape, d)
	if err != nil {
		t.Fatal(err)
	}
	p := fitted.Publish()
	p.Columns = ColumnsOf(d.shape.Design)
	published, err := p.Predictor()
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range d.likeliest() {
		row := d.codes[i]
		if got := float64(fitted.Scores.Of(d.shape, row[:3])) / boosting.ScoreUnit; math.Abs(got-want) > .01 {
			t.Fatalf("row %v has the score %v, want %v", row, got, want)
		}
		mean := published.Mean([]Value{{Number: float64(row[0] - 4)}, {Category: row[1]}, {Category: row[2]}})
		if wanted := 1 / (1 + math.Exp(-want)); math.Abs(mean-wanted) > .003 {
			t.Fatalf("row %v has the chance %v, want %v", row, mean, wanted)
		}
	}
}

// answering answers every question by a rule.
type answering func(i int) int64

func (a answering) Answer(_ context.Context, _ int, q boosting.Question) ([]int64, error) {
	n := 6
	if q.Scores == nil {
		n = 2
	}
	of := make([]int64, n)
	for i := range of {
		of[i] = a(i)
	}
	return of, nil
}

func (a answering) Sum(_ context.Context, _ int, _ []float64, own []int64) ([]int64, error) {
	of := make([]int64, len(own))
	for i := range of {
		of[i] = a(i)
	}
	return of, nil
}

// TestDescentIsFinite gives answers that nothing but noise, or an error, would give.
func TestDescentIsFinite(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for name, a := range map[string]answering{
		"nothing":   func(int) int64 { return 0 },
		"largest":   func(int) int64 { return 1 << 61 },
		"least":     func(int) int64 { return -1 << 61 },
		"both":      func(i int) int64 { return (1 - 2*int64(i%2)) << 61 },
		"any":       func(int) int64 { return int64(random.Uint64()) >> 1 },
		"one class": func(i int) int64 { return 100 * int64(i%2) },
	} {
		shape := drawDescentRows(t, 0, 1, boosting.Descent{Rounds: 9, Steps: 5, Rate: 1}).shape
		one, err := Descend(t.Context(), shape, a)
		if err != nil {
			t.Fatal(err)
		}
		several, err := Federate(t.Context(), shape, a, a)
		if err != nil {
			t.Fatal(err)
		}
		for _, fitted := range []*Descended{one, several} {
			if err := fitted.Scores.Check(shape); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			for _, term := range fitted.Publish().Terms {
				if math.IsNaN(term.Weight) || math.Abs(term.Weight) > 200 {
					t.Errorf("%s: a weight is %v", name, term.Weight)
				}
			}
		}
	}
}

// TestDescentTakesAnswersOfTheRightLength gives answers of another length, and errors.
func TestDescentTakesAnswersOfTheRightLength(t *testing.T) {
	shape := drawDescentRows(t, 0, 1, boosting.Descent{Rounds: 2, Steps: 1, Rate: .5}).shape
	ok := answering(func(int) int64 { return 5 })
	for name, o := range map[string]Oracle{
		"short counts":   oracleOf(func(q boosting.Question) ([]int64, error) { return []int64{1}, nil }),
		"short gradient": oracleOf(func(q boosting.Question) ([]int64, error) { return []int64{1, 2}, nil }),
		"an error":       oracleOf(func(q boosting.Question) ([]int64, error) { return nil, errors.New("no") }),
	} {
		if _, err := Descend(t.Context(), shape, o); err == nil {
			t.Errorf("%s: not refused", name)
		}
		if _, err := Federate(t.Context(), shape, o, ok); err == nil {
			t.Errorf("%s: not refused by a holder", name)
		}
	}
	if _, err := AverageUpdates(shape, [][]int64{{1, 2}, make([]int64, updateLength(shape))}); err == nil {
		t.Error("a round that lacks is not noticed")
	}
	if _, err := AverageUpdates(shape, [][]int64{{1, 2}, make([]int64, updateLength(shape)), {1}}); err == nil {
		t.Error("a short sum is not noticed")
	}
}

type oracleOf func(q boosting.Question) ([]int64, error)

func (o oracleOf) Answer(_ context.Context, _ int, q boosting.Question) ([]int64, error) { return o(q) }

// meeting adds up what several holders give, once all of them have given it.
type meeting struct {
	holders int
	mu      sync.Mutex
	given   *sync.Cond
	sums    [][]int64
	counts  []int
}

func (m *meeting) Sum(_ context.Context, round int, _ []float64, own []int64) ([]int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.sums) == round {
		m.sums, m.counts = append(m.sums, make([]int64, len(own))), append(m.counts, 0)
	}
	for i, x := range own {
		m.sums[round][i] += x
	}
	m.counts[round]++
	m.given.Broadcast()
	for m.counts[round] < m.holders {
		m.given.Wait()
	}
	return slices.Clone(m.sums[round]), nil
}

// TestFederatedAveraging: three holders of different sizes, without noise. With one step a round they come to where a
// single place does, with several near to the largest likelihood; all have the same result, which the sums alone give.
func TestFederatedAveraging(t *testing.T) {
	for _, descent := range []boosting.Descent{{Rounds: 60, Steps: 1, Rate: .3}, {Rounds: 100, Steps: 5, Rate: .6}} {
		whole := drawDescentRows(t, 6000, 5, descent)
		m := &meeting{holders: 3}
		m.given = sync.NewCond(&m.mu)
		var all [3]*Descended
		var wg sync.WaitGroup
		for i, part := range [][2]int{{0, 500}, {500, 2000}, {2000, 6000}} {
			wg.Go(func() {
				own := descentRows{whole.shape, whole.codes[part[0]:part[1]]}
				fitted, err := Federate(context.Background(), whole.shape, own, m)
				if err != nil {
					t.Error(err)
				}
				all[i] = fitted
			})
		}
		wg.Wait()
		averaged, err := AverageUpdates(whole.shape, m.sums)
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range all {
			if !slices.Equal(one.Weights, averaged.Weights) {
				t.Errorf("a holder has other weights than the sums give: %v, %v", one.Weights, averaged.Weights)
			}
		}
		wanted := whole.likeliest()
		if descent.Steps == 1 {
			single, err := Descend(t.Context(), whole.shape, whole)
			if err != nil {
				t.Fatal(err)
			}
			for i, row := range whole.codes {
				wanted[i] = float64(single.Scores.Of(whole.shape, row[:3])) / boosting.ScoreUnit
			}
		}
		for i, row := range whole.codes {
			got := float64(averaged.Scores.Of(whole.shape, row[:3])) / boosting.ScoreUnit
			if math.Abs(got-wanted[i]) > .02 {
				t.Fatalf("%d steps: row %v has the score %v, want %v", descent.Steps, row, got, wanted[i])
			}
		}
	}
}

// askedFor notes the states from which updates are summed up. The sum of one round is given.
type askedFor struct {
	answering
	sum    []int64
	states [][]float64
}

func (a *askedFor) Sum(ctx context.Context, round int, state []float64, own []int64) ([]int64, error) {
	a.states = append(a.states, state)
	if round == 1 {
		return a.sum, nil
	}
	return a.answering.Sum(ctx, round, state, own)
}

// TestTheStateOfARoundDecidesItsUpdate: masks belong to a round and its state, so two updates of a holder with the same
// answers must not have the same. Sums differ in a momentum alone, and in a weight by less than a unit of scores.
func TestTheStateOfARoundDecidesItsUpdate(t *testing.T) {
	shape := drawDescentRows(t, 0, 1, boosting.Descent{Rounds: 2, Steps: 1, Rate: .5}).shape
	stateAfter := func(at int, by int64) []float64 {
		a := &askedFor{answering: func(int) int64 { return 5 }, sum: make([]int64, updateLength(shape))}
		a.sum[0], a.sum[at] = 1000, by
		if _, err := Federate(t.Context(), shape, a, a); err != nil {
			t.Fatal(err)
		}
		return a.states[2]
	}
	for name, at := range map[string]int{"weight": 1, "momentum": updateLength(shape) - 1} {
		if slices.Equal(stateAfter(at, 0), stateAfter(at, 100)) {
			t.Errorf("sums with another %s lead to the same state", name)
		}
	}
}
