package synth

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/adaptive"
)

// This file holds the adaptive methods: which sets of columns are measured, chosen in rounds.

// Oracle answers an adaptive method, within what its plan allows.
type Oracle interface {
	// Merge makes categories count together from now on: classes[i] is the class of each category of the i-th column,
	// numbered from 0. It is called at most once, before the first round.
	Merge(classes [][]int) error
	// Select chooses the set of columns of a round among candidates, which are indexes into [adaptive.Candidates]. The
	// score of a candidate is the L1 distance of its exact counts from its model, less its penalty: models[i] holds the
	// expected counts of candidates[i], row-major, by class where categories were merged, in units of
	// 1/[adaptive.ModelScale], each in [0, 2^50]; penalties, nil for none, are in the same units and in [0, 2^60].
	// Select returns one of the candidates.
	Select(ctx context.Context, round int, how budget.Mechanism, candidates []int, models [][]int64,
		penalties []int64) (choice int, err error)
	// Measure answers the choice of a round.
	Measure(ctx context.Context, round, choice int, noise budget.Mechanism) (measured.Measured, error)
}

// Adapt runs the rounds of a method of the plan, in order. columns are the sealed measurements of the single columns,
// in the order of s.By.
//
// A round of method mst asks for the pair of columns, among those that close no cycle with the pairs before, whose
// counts are farthest from those of independent columns (McKenna, Miklau & Sheldon 2021). A round of method aim asks
// for the set of columns whose counts are farthest from those that a model of all answers so far expects, less the
// expected noise of the coming answer (McKenna, Mullins, Sheldon & Miklau 2022). The questions depend only on the plan,
// the columns and the answers so far, to the bit, on every machine: a run that was interrupted asks the same again.
//
// It returns an error if columns are not those of the method, and if the oracle fails or answers another question. It
// ends with the context, on which no question depends: questions follow only from models that were fitted to the end.
func Adapt(ctx context.Context, p *plan.Plan, s plan.Synthetic, columns []measured.Measured, o Oracle) (measured.Rounds,
	error) {
	if err := checkColumns(p, s, columns); err != nil {
		return measured.Rounds{}, err
	}
	a := asker{p, s, adaptive.Candidates(s), nil, o}
	var err error
	var rounds []measured.Round
	if s.Method == plan.AIM {
		rounds, err = a.aimRounds(ctx, columns)
	} else {
		rounds, err = a.mstRounds(ctx, columns)
	}
	if err != nil {
		return measured.Rounds{}, fmt.Errorf("the microdata of %s: %w", s.Table, err)
	}
	return measured.Rounds{Classes: a.classes, All: rounds}, nil
}

// asker asks an oracle the questions of one method.
type asker struct {
	plan       *plan.Plan
	synthetic  plan.Synthetic
	candidates [][]int
	classes    [][]int // of the merged categories; nil: none were merged
	oracle     Oracle
}

// question is the choice that a round offers to the oracle.
type question struct {
	candidates []int
	models     [][]int64
	penalties  []int64
}

// askRound runs a round: a choice, and its answer.
func (a *asker) askRound(ctx context.Context, round int, t adaptive.RoundMechanisms, q question) (measured.Round,
	error) {
	choice, err := a.oracle.Select(ctx, round, t.Select, q.candidates, q.models, q.penalties)
	if err == nil && !slices.Contains(q.candidates, choice) {
		err = fmt.Errorf("%d is not among the candidates", choice)
	}
	var answer measured.Measured
	if err == nil {
		answer, err = a.oracle.Measure(ctx, round, choice, t.Noise)
	}
	if err == nil {
		err = checkRound(a.plan, a.synthetic, round, choice, a.classes, t.Noise, answer)
	}
	if err != nil {
		return measured.Round{}, fmt.Errorf("round %d: %w", round+1, err)
	}
	return measured.Round{Choice: choice, Mechanisms: t, Measured: answer}, nil
}

// mstRounds runs the rounds of method mst.
func (a *asker) mstRounds(ctx context.Context, columns []measured.Measured) (rounds []measured.Round, err error) {
	total, _ := totalOf(columns)
	m := fitTree(ctx, max(total, 1), columns, a.candidates, nil)
	expected := make([][]int64, len(a.candidates))
	for i, pair := range a.candidates {
		expected[i] = toModelUnits(m.independentCounts(pair))
	}
	joined := adaptive.ForestOf(a.synthetic)
	for round := range a.synthetic.Rounds {
		var q question
		for i, pair := range a.candidates {
			if joined.WouldJoin(pair) {
				q.candidates, q.models = append(q.candidates, i), append(q.models, expected[i])
			}
		}
		if len(q.candidates) == 0 {
			break
		}
		r, err := a.askRound(ctx, round, adaptive.RoundMechanisms{Select: a.synthetic.Select,
			Noise: a.synthetic.Noise}, q)
		if err != nil {
			return nil, err
		}
		joined.Join(a.candidates[r.Choice])
		rounds = append(rounds, r)
	}
	return rounds, nil
}

// toModelUnits converts counts to units of 1/[adaptive.ModelScale].
func toModelUnits(counts []float64) []int64 {
	const most = 1 << 50
	out := make([]int64, len(counts))
	for i, c := range counts {
		out[i] = int64(min(max(math.Floor(float64(c*adaptive.ModelScale)+0.5), 0), most))
	}
	return out
}
