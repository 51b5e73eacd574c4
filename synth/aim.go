package synth

import (
	"context"
	"math"
	"slices"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/synth/graphical"
)

// This file holds AIM (McKenna, Mullins, Sheldon & Miklau 2022): rounds that each measure the marginal that a model of all
// answers so far gets most wrong, beside what the noise of the coming answer will be.

// marginalOracle answers the rounds of AIM. Cells are those of the classes of the columns.
type marginalOracle interface {
	// Select chooses among candidates by weight·(‖counts − model‖₁ − penalty), models and penalties in units of
	// 1/[plan.ModelScale].
	Select(ctx context.Context, round int, how budget.Mechanism, candidates []int, models [][]int64, penalties []int64) (choice int, err error)
	// Measure is the noisy counts of a candidate.
	Measure(ctx context.Context, round, choice int, noise budget.Mechanism) ([]int64, error)
}

// aim is the state of the method: a model of the columns' classes, and the marginals that may be measured.
type aim struct {
	model      *graphical.Model
	domain     graphical.Domain
	candidates []graphical.Clique
	cap        graphical.Size // of the model, when all is spent
	totals     pool           // of the number of rows
}

// pool is a mean by inverse variance.
type pool struct{ mean, weight float64 }

func (p *pool) add(x, variance float64) {
	p.weight += 1 / variance
	p.mean += (x - p.mean) / float64(p.weight*variance)
}

// newAIM is the method after the measurement of single columns, each with a variance for each class.
func newAIM(columns [][]float64, variances [][]float64, ways int, most graphical.Size) *aim {
	a := &aim{cap: most}
	for i, counts := range columns {
		a.domain = append(a.domain, len(counts))
		a.totals.add(sum(counts), sum(variances[i]))
	}
	a.model = graphical.New(a.domain, a.totals.mean)
	for i, counts := range columns {
		a.model.Measure(graphical.Clique{i}, counts, variances[i])
	}
	a.candidates = closure(len(columns), ways)
	a.model.Fit(firstSteps)
	return a
}

// closure is all sets of 1 to ways of n columns: shorter ones first, and in lexicographic order.
func closure(n, ways int) []graphical.Clique {
	var all []graphical.Clique
	from := []graphical.Clique{nil}
	for range ways {
		var next []graphical.Clique
		for _, c := range from {
			first := 0
			if len(c) > 0 {
				first = c[len(c)-1] + 1
			}
			for a := first; a < n; a++ {
				next = append(next, append(slices.Clone(c), a))
			}
		}
		all, from = append(all, next...), next
	}
	return all
}

const (
	firstSteps = 50
	roundSteps = 15
	lastSteps  = 60
)

// meanDeviation is √(2/π): the mean of |x| of a normal x of deviation 1.
const meanDeviation = 0.79788456080286535588

// run makes all rounds.
func (a *aim) run(ctx context.Context, s *plan.Schedule, o marginalOracle) (rounds int, err error) {
	for round := 0; ; round++ {
		choose, noise, last := s.Next()
		sigma := math.Sqrt(max(noise.Variance(), 0x1p-60))
		share := s.Used()
		candidates := a.admissible(graphical.Size{Total: float64(a.cap.Total * share), Largest: a.cap.Largest})
		asked := make([]graphical.Clique, len(candidates))
		for i, c := range candidates {
			asked[i] = a.candidates[c]
		}
		models, penalties := make([][]int64, len(asked)), make([]int64, len(asked))
		a.model.Marginals(asked, func(i int, counts []float64) {
			models[i] = quantised(counts)
			penalties[i] = int64(min(math.Floor(plan.ModelScale*(meanDeviation*sigma*float64(len(counts)))), 1<<60))
		})
		choice, err := o.Select(ctx, round, choose, candidates, models, penalties)
		if err != nil {
			return round, err
		}
		answer, err := o.Measure(ctx, round, choice, noise)
		if err != nil {
			return round, err
		}
		clique := a.candidates[choice]
		before := a.model.Marginal(clique)
		a.learn(clique, answer, noise.Variance())
		if last {
			a.model.Fit(lastSteps)
			return round + 1, nil
		}
		a.model.Fit(roundSteps)
		if distance(before, a.model.Marginal(clique)) <= meanDeviation*sigma*float64(len(answer)) {
			s.Quieter()
		}
	}
}

// learn takes an answer into the model.
func (a *aim) learn(clique graphical.Clique, answer []int64, variance float64) {
	counts, variances := make([]float64, len(answer)), make([]float64, len(answer))
	for i, v := range answer {
		counts[i], variances[i] = float64(v), variance
	}
	a.totals.add(sum(counts), float64(variance*float64(len(counts))))
	a.model.SetTotal(a.totals.mean)
	a.model.Measure(clique, counts, variances)
}

// admissible are the candidates with which the model is within a size, and those that are part of it in any case.
func (a *aim) admissible(most graphical.Size) []int {
	var all []int
	for i, c := range a.candidates {
		if size := a.model.SizeWith(c); size == a.model.Size() || size.Within(most) {
			all = append(all, i)
		}
	}
	return all
}

// quantised is counts in units of 1/[plan.ModelScale].
func quantised(counts []float64) []int64 {
	const most = 1 << 50
	out := make([]int64, len(counts))
	for i, c := range counts {
		out[i] = int64(min(max(math.Floor(float64(c*plan.ModelScale)+0.5), 0), most))
	}
	return out
}
