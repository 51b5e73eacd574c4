package synth

import (
	"context"
	"errors"

	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/plan"
)

// This file holds the adaptive method: which pairs of columns are measured, chosen in rounds.

// Oracle answers an adaptive method, within what its plan allows.
type Oracle interface {
	// Select chooses the pair of a round among candidates, which are places in [plan.Synthetic.Pairs], each by how
	// far its exact counts lie, in L1, from models: models[i] holds the counts that are expected of candidate i,
	// row-major, in units of 1/[plan.ModelScale], each in [0, 2^50]. It returns one of the candidates.
	Select(ctx context.Context, round int, candidates []int, models [][]int64) (choice int, err error)
	// Measure answers the pair of a round.
	Measure(ctx context.Context, round, choice int) (measured.Measured, error)
}

// Adapt runs a method of the plan: its rounds in order. columns are the sealed measurements of the single columns, in
// the order of s.By.
func Adapt(ctx context.Context, p *plan.Plan, s plan.Synthetic, columns []measured.Measured, o Oracle) ([]measured.Round, error) {
	return nil, errors.New("this version makes no microdata")
}
