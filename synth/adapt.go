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
	// Merge has categories counted together from now on: classes[i] is the class of each category of the i-th column,
	// numbered from 0. It is called at most once, before the first round.
	Merge(classes [][]int) error
	// Select chooses the set of columns of a round among candidates, which are places in [adaptive.Candidates],
	// each by how far its exact counts lie, in L1, from models, less a penalty: models[i] holds the counts that are
	// expected of candidates[i], row-major, by class where categories were merged, in units of 1/[adaptive.ModelScale],
	// each in [0, 2^50]; penalties, nil for none, are in the same units and in [0, 2^60]. It returns one of the
	// candidates.
	Select(ctx context.Context, round int, how budget.Mechanism, candidates []int, models [][]int64,
		penalties []int64) (choice int, err error)
	// Measure answers the choice of a round.
	Measure(ctx context.Context, round, choice int, noise budget.Mechanism) (measured.Measured, error)
}

// Adapt runs a method of the plan: its rounds in order. columns are the sealed measurements of the single columns, in
// the order of s.By.
//
// By method mst a round asks for the pair of columns, among those that close no cycle with the pairs before, whose
// counts are farthest from what they would be if the columns did not depend on each other (McKenna, Miklau & Sheldon
// 2021); by method aim for the set of columns whose counts are farthest from what a model of all answers so far
// expects, beside what the noise of the coming answer will be (McKenna, Mullins, Sheldon & Miklau 2022). What it asks
// depends on nothing but the plan, columns and the answers so far, to the bit, on every machine: a run that was cut off
// asks the same again.
//
// It fails on columns that are not those of the method, and where the oracle does or answers something else than asked.
// It ends with the context, of which nothing that it asks depends: what is asked follows from models that were fitted
// to the end.
func Adapt(ctx context.Context, p *plan.Plan, s plan.Synthetic, columns []measured.Measured, o Oracle) (measured.Rounds,
	error) {
	if err := checkColumns(p, s, columns); err != nil {
		return measured.Rounds{}, err
	}
	a := asker{p, s, adaptive.Candidates(s), nil, o}
	var err error
	var rounds []measured.Round
	if s.Method == plan.AIM {
		rounds, err = a.aim(ctx, columns)
	} else {
		rounds, err = a.tree(ctx, columns)
	}
	if err != nil {
		return measured.Rounds{}, fmt.Errorf("the microdata of %s: %w", s.Table, err)
	}
	return measured.Rounds{Classes: a.classes, Each: rounds}, nil
}

// asker asks an oracle.
type asker struct {
	plan       *plan.Plan
	asked      plan.Synthetic
	candidates [][]int
	classes    [][]int // by which categories were merged; nil: none were
	oracle     Oracle
}

// question is what a round chooses among.
type question struct {
	candidates []int
	models     [][]int64
	penalties  []int64
}

// round makes a round: a choice, and its answer.
func (a *asker) round(ctx context.Context, round int, t adaptive.Turn, q question) (measured.Round, error) {
	choice, err := a.oracle.Select(ctx, round, t.Select, q.candidates, q.models, q.penalties)
	if err == nil && !slices.Contains(q.candidates, choice) {
		err = fmt.Errorf("%d is not among the candidates", choice)
	}
	var answer measured.Measured
	if err == nil {
		answer, err = a.oracle.Measure(ctx, round, choice, t.Noise)
	}
	if err == nil {
		err = checkRound(a.plan, a.asked, round, choice, a.classes, t.Noise, answer)
	}
	if err != nil {
		return measured.Round{}, fmt.Errorf("round %d: %w", round+1, err)
	}
	return measured.Round{Choice: choice, Turn: t, Measured: answer}, nil
}

// tree makes the rounds of method mst.
func (a *asker) tree(ctx context.Context, columns []measured.Measured) (rounds []measured.Round, err error) {
	total, _ := totalOf(columns)
	m := fit(ctx, max(total, 1), columns, a.candidates, nil)
	expected := make([][]int64, len(a.candidates))
	for i, pair := range a.candidates {
		expected[i] = quantised(m.independent(pair))
	}
	joined := adaptive.ForestOf(a.asked)
	for round := range a.asked.Rounds {
		var q question
		for i, pair := range a.candidates {
			if joined.Apart(pair) {
				q.candidates, q.models = append(q.candidates, i), append(q.models, expected[i])
			}
		}
		if len(q.candidates) == 0 {
			break
		}
		r, err := a.round(ctx, round, adaptive.Turn{Select: a.asked.Select, Noise: a.asked.Noise}, q)
		if err != nil {
			return nil, err
		}
		joined.Join(a.candidates[r.Choice])
		rounds = append(rounds, r)
	}
	return rounds, nil
}

// quantised is counts in units of 1/[adaptive.ModelScale].
func quantised(counts []float64) []int64 {
	const most = 1 << 50
	out := make([]int64, len(counts))
	for i, c := range counts {
		out[i] = int64(min(max(math.Floor(float64(c*adaptive.ModelScale)+0.5), 0), most))
	}
	return out
}
