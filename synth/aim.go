package synth

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/internal/progress"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/adaptive"
	"github.com/dprelease/dprelease/synth/graphical"
)

// This file holds AIM (McKenna, Mullins, Sheldon & Miklau 2022): each round measures the marginal that a model of all
// answers so far gets most wrong, relative to the noise of the coming answer.

// aim is the state of the method: a model of the columns' classes, and the marginals that may be measured.
type aim struct {
	model      *graphical.Model
	columns    []classes
	domain     graphical.Domain // the classes of each column
	candidates []graphical.Clique
	most       graphical.Size // size of the model when the whole budget is spent
	totals     pool           // estimates of the number of rows
	schedule   *adaptive.Schedule
}

// newAIM returns the method after the measurement of single columns. It merges the categories of a column that the
// noise hides. The variance of a class is that of the sum of its categories.
func newAIM(ctx context.Context, s plan.Synthetic, columns []measured.Measured) (*aim, error) {
	if s.LargestModel == nil {
		return nil, errors.New("the plan does not say how large its model may become")
	}
	a := &aim{most: graphical.Size{Total: float64(s.LargestModel.Cells), Largest: float64(s.LargestModel.Largest)},
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
	for i := range s.GivenColumns() {
		given = append(given, len(s.OwnColumns())+i)
	}
	a.model = graphical.New(a.domain, given, a.totals.mean)
	for i := range counts {
		a.model.Measure(graphical.Clique{i}, counts[i], variances[i])
	}
	a.model.Fit(ctx, firstSteps)
	return a, nil
}

// categoryClasses returns the class of each category of each column.
func (a *aim) categoryClasses() [][]int {
	out := make([][]int, len(a.columns))
	for i, c := range a.columns {
		out[i] = c.of
	}
	return out
}

// Steps of the fit to the columns, to each answer, and to all answers at the end. A model that is not fitted completely
// stays simpler, and follows less of the noise.
const (
	firstSteps = 50
	roundSteps = 15
	lastSteps  = 60
)

// aimRounds runs the rounds of method aim.
func (a *asker) aimRounds(ctx context.Context, columns []measured.Measured) (rounds []measured.Round, err error) {
	quiet := progress.Silent(ctx) // the oracle reports rounds, of which fits are parts
	m, err := newAIM(quiet, a.synthetic, columns)
	if err != nil {
		return nil, err
	}
	a.classes = m.categoryClasses()
	if err := a.oracle.Merge(a.classes); err != nil {
		return nil, err
	}
	for round := 0; ; round++ {
		turn, last := m.schedule.Next()
		q := m.questionFor(ctx, turn)
		if err := ctx.Err(); err != nil { // the question may come from a model that was not fitted to the end
			return nil, err
		}
		r, err := a.askRound(ctx, round, turn, q)
		if err != nil {
			return nil, err
		}
		if rounds = append(rounds, r); last {
			return rounds, nil
		}
		m.addAnswer(quiet, r, false)
	}
}

// replay adds the answers of earlier rounds to the model. It returns an error if the method does not make these rounds.
func (a *aim) replay(ctx context.Context, p *plan.Plan, s plan.Synthetic, made measured.Rounds) error {
	if !slices.EqualFunc(made.Classes, a.categoryClasses(), slices.Equal) {
		return errors.New("the classes are not those that the measurements of the columns lead to")
	}
	for i, r := range made.All {
		// Check the context first: rounds are not judged by a model that was not fitted to the end.
		if err := ctx.Err(); err != nil {
			return err
		}
		turn, last := a.schedule.Next()
		var err error
		switch {
		case r.Choice < 0 || r.Choice >= len(a.candidates) ||
			!a.isOpen(a.model.SizeWith(a.candidates[r.Choice]), a.currentLimit()):
			err = fmt.Errorf("%d was not to be chosen", r.Choice)
		case !turn.Equal(r.Mechanisms):
			err = errors.New("its mechanisms do not follow from the rounds before")
		case last != (i == len(made.All)-1):
			err = fmt.Errorf("there are %d, and it is the last of them: %t", len(made.All), last)
		default:
			err = checkRound(p, s, i, r.Choice, made.Classes, turn.Noise, r.Measured)
		}
		if err != nil {
			return fmt.Errorf("round %d of the microdata of %s: %w", i+1, s.Table, err)
		}
		a.addAnswer(ctx, r, last)
	}
	if len(made.All) == 0 {
		return fmt.Errorf("the microdata of %s have no rounds", s.Table)
	}
	return nil
}

// questionFor returns the choice of a round. A candidate's penalty is the expected L1 norm of the noise of its answer.
func (a *aim) questionFor(ctx context.Context, t adaptive.RoundMechanisms) question {
	var q question
	var asked []graphical.Clique
	most, sizes := a.currentLimit(), a.model.SizesWith(ctx, a.candidates)
	for i, c := range a.candidates {
		if a.isOpen(sizes[i], most) {
			q.candidates, asked = append(q.candidates, i), append(asked, c)
		}
	}
	q.models, q.penalties = make([][]int64, len(asked)), make([]int64, len(asked))
	sigma := deviationOf(t)
	a.model.Marginals(ctx, asked, func(i int, counts []float64) {
		q.models[i] = toModelUnits(counts)
		q.penalties[i] = int64(min(math.Floor(adaptive.ModelScale*(meanDeviation*sigma*float64(len(counts)))), 1<<60))
	})
	return q
}

// currentLimit returns the size that the model may have now: the spent share of the budget times its final size.
func (a *aim) currentLimit() graphical.Size {
	return graphical.Size{Total: float64(a.most.Total * a.schedule.Used()), Largest: a.most.Largest}
}

// isOpen reports whether a candidate may be chosen, given the size of the model with it: either the candidate does not
// enlarge the model, or that size is within the limit.
func (a *aim) isOpen(size, most graphical.Size) bool {
	return size == a.model.Size() || size.FitsIn(most)
}

// deviationOf returns the standard deviation of the noise of a turn, which is never zero.
func deviationOf(t adaptive.RoundMechanisms) float64 {
	return math.Sqrt(max(t.Noise.Variance(), leastVariance))
}

// addAnswer adds the answer of a round to the model. If the model was already as close to the answer as noise would be,
// the following rounds use less noise.
func (a *aim) addAnswer(ctx context.Context, r measured.Round, last bool) {
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
	if l1Distance(before, a.model.Marginal(clique)) <= meanDeviation*deviationOf(r.Mechanisms)*float64(len(counts)) {
		a.schedule.Quieter()
	}
}
