package boosted_test

// This file measures how well models of several holders predict. Run it with
//
//	go test ./histogram/internal/boosted -run none -bench Holders -benchtime 1x

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/dprelease/dprelease/histogram/internal/boosted"
	"github.com/dprelease/dprelease/plan/boosting"
	"github.com/dprelease/dprelease/plan/design"
	"github.com/dprelease/dprelease/synth/model"
)

// sumOfHolders adds up what holders give, once all of them have given it: their answers to a round, or their updates.
type sumOfHolders struct {
	oracles []model.Oracle // of each holder, with its noise
	mu      sync.Mutex
	given   *sync.Cond
	sums    map[int][]int64
	counts  map[int]int
}

// Answer adds up the answers of all holders to one question.
func (h *sumOfHolders) Answer(ctx context.Context, round int, q boosting.Question) (sum []int64, err error) {
	for _, o := range h.oracles {
		answer, err := o.Answer(ctx, round, q)
		if err != nil {
			return nil, err
		}
		if sum == nil {
			sum = make([]int64, len(answer))
		}
		for i, x := range answer {
			sum[i] += x
		}
	}
	return sum, nil
}

// Sum adds up updates.
func (h *sumOfHolders) Sum(_ context.Context, round int, _ []float64, own []int64) ([]int64, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.sums[round] == nil {
		h.sums[round] = make([]int64, len(own))
	}
	for i, x := range own {
		h.sums[round][i] += x
	}
	h.counts[round]++
	h.given.Broadcast()
	for h.counts[round] < len(h.oracles) {
		h.given.Wait()
	}
	return slices.Clone(h.sums[round]), nil
}

// descentOf returns the shape of a regression by gradient descent for a budget μ.
func descentOf(t testing.TB, d dataset, mu float64, rows, steps int) *boosting.Shape {
	s := &boosting.Shape{Columns: d.columns, Link: boosting.Logit, Outcomes: []int64{0, 1},
		Descent: boosting.NewDescent(mu, int64(rows), len(d.columns), steps)}
	var columns []design.Column
	for i, c := range append(slices.Clone(d.columns), boosting.Column{Categories: 2}) {
		one := design.Column{Name: strconv.Itoa(i)}
		for k := range c.Categories {
			if c.Ordered {
				one.Values = append(one.Values, int64(k))
			} else {
				one.Categories = append(one.Categories, strconv.Itoa(k))
			}
		}
		columns = append(columns, one)
	}
	var err error
	if s.Design, err = design.New(columns, 1); err != nil {
		t.Fatal(err)
	}
	counting := mu * mu * boosting.DescentCountPercent / 100
	s.CountVariance = math.Ceil(1 / counting)
	unit := float64(s.RowUnit())
	s.SumVariance = math.Ceil(unit * unit * float64(s.Descent.Gradients()) / (mu*mu - counting))
	return s
}

// BenchmarkHolders prints the mean AUC, on other rows, of models of three holders with a third of two thirds of UCI
// Adult each, of whom two are trusted: additive and by gradients of all holders, with shares of the noise, and by
// federated averaging, with all of the noise at each holder. Rows are with the holders at random, or by age: the
// youngest with the first. δ is 1e-5, and the rounds are composed as Gaussian differential privacy.
func BenchmarkHolders(b *testing.B) {
	const holders, trusted, splits = 3, 2, 10
	d := adult(b)
	for _, epsilon := range []float64{.5, 1, 4} {
		mu := gaussianMu(epsilon, 1e-5)
		n := len(d.rows) * 2 / 3
		for _, method := range []struct {
			name  string
			steps int // 0: all holders answer each round
			shape *boosting.Shape
		}{
			{"additive", 0, shapeOf(d, mu, n, 1)},
			{"gradient", 0, descentOf(b, d, mu, n, 1)},
			{"fedavg-1", 1, descentOf(b, d, mu, n, 1)},
			{"fedavg-5", 5, descentOf(b, d, mu, n, 5)},
			{"fedavg-20", 20, descentOf(b, d, mu, n, 20)},
		} {
			for _, byAge := range []bool{false, true} {
				b.Run(fmt.Sprintf("epsilon=%v/%s/by-age=%v", epsilon, method.name, byAge), func(b *testing.B) {
					sum, squares := 0.0, 0.0
					for b.Loop() {
						sum, squares = 0, 0
						for split := range splits {
							auc := fitTogether(b, d, method.shape, method.steps > 0, byAge, holders, trusted, split)
							sum, squares = sum+auc, squares+auc*auc
						}
					}
					mean := sum / splits
					b.ReportMetric(mean, "AUC")
					b.ReportMetric(math.Sqrt(max(squares/splits-mean*mean, 0)), "sd")
					b.ReportMetric(float64(method.shape.Rounds()), "rounds")
				})
			}
		}
	}
}

// fitTogether has holders fit a model to two thirds of the rows, and returns its AUC on the others.
func fitTogether(b *testing.B, d dataset, shape *boosting.Shape, local, byAge bool, holders, trusted, split int) (
	auc float64) {
	random := rand.New(rand.NewPCG(uint64(split), 1))
	rows := slices.Clone(d.rows)
	random.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	n := len(rows) * 2 / 3
	if byAge {
		slices.SortStableFunc(rows[:n], func(a, b []int) int { return a[0] - b[0] })
	}
	one := *shape
	if !local {
		one.CountVariance, one.SumVariance = shape.CountVariance/float64(trusted), shape.SumVariance/float64(trusted)
	}
	all := &sumOfHolders{sums: map[int][]int64{}, counts: map[int]int{}}
	all.given = sync.NewCond(&all.mu)
	for i := range holders {
		cells, counts := histogramOf(shape.Sizes(), rows[i*n/holders:(i+1)*n/holders])
		own, _, err := boosted.New(b.Context(), shape, cells, counts, boosted.Split{})
		if err != nil {
			b.Fatal(err)
		}
		all.oracles = append(all.oracles, &noisyOracle{rows: own, shape: &one, seed: byte(split*holders + i)})
	}
	var scores boosting.Scores
	switch {
	case local:
		var wg sync.WaitGroup
		for i, o := range all.oracles {
			wg.Go(func() {
				fitted, err := model.Federate(b.Context(), shape, o, all)
				if err != nil {
					b.Error(err)
				} else if i == 0 {
					scores = fitted.Scores
				}
			})
		}
		wg.Wait()
	case shape.Design != nil:
		fitted, err := model.Descend(b.Context(), shape, all)
		if err != nil {
			b.Fatal(err)
		}
		scores = fitted.Scores
	default:
		fitted, err := model.Train(b.Context(), shape, all)
		if err != nil {
			b.Fatal(err)
		}
		scores = fitted.Scores
	}
	var of []int32
	var classes []int
	for _, row := range rows[n:] {
		last := len(row) - 1
		of, classes = append(of, scores.Of(shape, row[:last])), append(classes, row[last])
	}
	return aucOf(of, classes)
}
