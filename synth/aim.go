package synth

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/adaptive"
	"github.com/dprelease/dprelease/synth/graphical"
)

// This file holds AIM (McKenna, Mullins, Sheldon & Miklau 2022): rounds that each measure the marginal that a model of
// all answers so far gets most wrong, beside what the noise of the coming answer will be.

// aim is the state of the method: a model of the columns' classes, and the marginals that may be measured.
type aim struct {
	model      *graphical.Model
	columns    []classes
	domain     graphical.Domain // the classes of each column
	candidates []graphical.Clique
	most       graphical.Size // of the model, when all is spent
	totals     pool           // of the number of rows
	schedule   *adaptive.Schedule
}

// newAIM is the method after the measurement of single columns, whose categories it merges where the noise hides them.
// The variance of a class is that of the sum of its categories.
func newAIM(ctx context.Context, s plan.Synthetic, columns []measured.Measured) (*aim, error) {
	if s.Most == nil {
		return nil, errors.New("the plan does not say how large its model may become")
	}
	a := &aim{most: graphical.Size{Total: float64(s.Most.Cells), Largest: float64(s.Most.Largest)},
		schedule: adaptive.NewSchedule(s)}
	for _, c := range adaptive.Candidates(s) {
		a.candidates = append(a.candidates, c)
	}
	counts, variances := make([][]float64, len(columns)), make([][]float64, len(columns))
	for i, m := range columns {
		e := evidence{countsOf(m), varianceOf(m)}
		c := classesOf(e)
		a.columns, a.domain = append(a.columns, c), append(a.domain, len(c.size))
		counts[i] = make([]float64, len(c.size))
		for j, x := range e.counts {
			counts[i][c.of[j]] += x
		}
		for _, n := range c.size {
			variances[i] = append(variances[i], float64(n*e.variance))
		}
		a.totals.add(sum(counts[i]), float64(e.variance*float64(len(e.counts))))
	}
	var given graphical.Clique
	for i := range s.GivenBy() {
		given = append(given, len(s.Own())+i)
	}
	a.model = graphical.New(a.domain, given, a.totals.mean)
	for i := range counts {
		a.model.Measure(graphical.Clique{i}, counts[i], variances[i])
	}
	a.model.Fit(ctx, firstSteps)
	return a, nil
}

// merged is the class of each category of each column.
func (a *aim) merged() [][]int {
	out := make([][]int, len(a.columns))
	for i, c := range a.columns {
		out[i] = c.of
	}
	return out
}

// Steps of the fit: to the columns, to each answer, and to all at last. A model that is fitted less than wholly keeps
// to what is simple, and so to less of the noise.
const (
	firstSteps = 50
	roundSteps = 15
	lastSteps  = 60
)

// aim makes the rounds of method aim.
func (a *asker) aim(ctx context.Context, columns []measured.Measured) (rounds []measured.Round, err error) {
	m, err := newAIM(ctx, a.asked, columns)
	if err != nil {
		return nil, err
	}
	a.classes = m.merged()
	if err := a.oracle.Merge(a.classes); err != nil {
		return nil, err
	}
	for round := 0; ; round++ {
		turn, last := m.schedule.Next()
		q := m.question(ctx, turn)
		if err := ctx.Err(); err != nil { // the question may be of a model that was not fitted to its end
			return nil, err
		}
		r, err := a.round(ctx, round, turn, q)
		if err != nil {
			return nil, err
		}
		if rounds = append(rounds, r); last {
			return rounds, nil
		}
		m.learn(ctx, r, false)
	}
}

// replay learns what rounds were answered. It fails on rounds that the method does not make.
func (a *aim) replay(ctx context.Context, p *plan.Plan, s plan.Synthetic, made measured.Rounds) error {
	if !slices.EqualFunc(made.Classes, a.merged(), slices.Equal) {
		return errors.New("the classes are not those that the measurements of the columns lead to")
	}
	for i, r := range made.Each {
		// what follows from a model that was not fitted to its end is not held against the rounds
		if err := ctx.Err(); err != nil {
			return err
		}
		turn, last := a.schedule.Next()
		var err error
		switch {
		case r.Choice < 0 || r.Choice >= len(a.candidates) || !a.open(a.model.SizeWith(a.candidates[r.Choice]), a.grown()):
			err = fmt.Errorf("%d was not to be chosen", r.Choice)
		case !turn.Equal(r.Turn):
			err = errors.New("its mechanisms do not follow from the rounds before")
		case last != (i == len(made.Each)-1):
			err = fmt.Errorf("there are %d, and it is the last of them: %t", len(made.Each), last)
		default:
			err = checkRound(p, s, i, r.Choice, made.Classes, turn.Noise, r.Measured)
		}
		if err != nil {
			return fmt.Errorf("round %d of the microdata of %s: %w", i+1, s.Table, err)
		}
		a.learn(ctx, r, last)
	}
	if len(made.Each) == 0 {
		return fmt.Errorf("the microdata of %s have no rounds", s.Table)
	}
	return nil
}

// question is what a round chooses among: how far the model may be off, less what the noise of the answer will be.
func (a *aim) question(ctx context.Context, t adaptive.Turn) question {
	var q question
	var asked []graphical.Clique
	most, sizes := a.grown(), a.model.SizesWith(ctx, a.candidates)
	for i, c := range a.candidates {
		if a.open(sizes[i], most) {
			q.candidates, asked = append(q.candidates, i), append(asked, c)
		}
	}
	q.models, q.penalties = make([][]int64, len(asked)), make([]int64, len(asked))
	sigma := deviationOf(t)
	a.model.Marginals(ctx, asked, func(i int, counts []float64) {
		q.models[i] = quantised(counts)
		q.penalties[i] = int64(min(math.Floor(adaptive.ModelScale*(meanDeviation*sigma*float64(len(counts)))), 1<<60))
	})
	return q
}

// grown is the size that the model may have now: as large a part of its greatest as is spent of the loss.
func (a *aim) grown() graphical.Size {
	return graphical.Size{Total: float64(a.most.Total * a.schedule.Used()), Largest: a.most.Largest}
}

// open reports whether a candidate may be chosen, by the size of the model with it: one that is part of the model in
// any case, or with which it has a size at most.
func (a *aim) open(size, most graphical.Size) bool {
	return size == a.model.Size() || size.Within(most)
}

// deviationOf is the standard deviation of the noise of a turn, kept from zero.
func deviationOf(t adaptive.Turn) float64 { return math.Sqrt(max(t.Noise.Variance(), leastVariance)) }

// learn takes the answer of a round into the model. Where the model was as near to it before as noise alone would be,
// the rounds that follow get quieter.
func (a *aim) learn(ctx context.Context, r measured.Round, last bool) {
	clique := a.candidates[r.Choice]
	counts := countsOf(r.Measured)
	variances := slices.Repeat([]float64{varianceOf(r.Measured)}, len(counts))
	before := a.model.Marginal(clique)
	a.totals.add(sum(counts), sum(variances))
	a.model.SetTotal(a.totals.mean)
	a.model.Measure(clique, counts, variances)
	if last {
		a.model.Fit(ctx, lastSteps)
		return
	}
	a.model.Fit(ctx, roundSteps)
	if distance(before, a.model.Marginal(clique)) <= meanDeviation*deviationOf(r.Turn)*float64(len(counts)) {
		a.schedule.Quieter()
	}
}
