package histogram

// This file holds the Counter, and Count: from what a plan asks to its exact answers.

import (
	"context"
	"fmt"
	"slices"

	"github.com/dprelease/dprelease/histogram/internal/answer"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/planner"
)

// Counter answers questions to the confidential tables of a release exactly. What it returns tells nothing outside of the
// packages that the test of arrows lists.
//
// Contract: which rows count, and how many rows of each unit, is a function of the plan, the tables and the keys of s alone, and
// not of what is asked, nor of anything that the machine decides. No error holds a value, a row or a count.
type Counter interface {
	Count(ctx context.Context, q Questions, s *noise.Streams) (answer.Answers, error)
}

// Questions are what a [Counter] is asked, all at once.
type Questions struct {
	Plan         *plan.Plan         // whose release says what the tables are, and which of their rows count; verified
	Measurements []plan.Measurement // whose exact answers are wanted, in this order; their mechanisms say nothing here
}

// Count has a counter answer all that a plan may ask: its measurements, and every candidate that an adaptive method of the plan
// may choose. It works on a copy of the plan that nobody else holds, checked to be what its spec leads to: what is measured
// later is what was checked here. s bounds the rows, and is what [Exact.Open] must be given.
//
// Errors: those of the counter.
func Count(ctx context.Context, p *plan.Plan, by Counter, s *noise.Streams) (*Exact, error) {
	p, err := planner.Verified(p)
	if err != nil {
		return nil, err
	}
	all, err := questions(p)
	if err != nil {
		return nil, err
	}
	for _, m := range all {
		if m.Query.Quantile == nil {
			continue
		}
		if _, err := newDrawing(p.Release(), m); err != nil {
			return nil, err
		}
	}
	counted, err := by.Count(ctx, Questions{Plan: p, Measurements: all}, s)
	if err != nil {
		return nil, err
	}
	return newExact(p, all, counted, s)
}

// questions are all that a plan may ask of its tables: its measurements in order
// and, behind them, the candidates of every adaptive method. What a method will choose
// is not known before noise is drawn, and tables are read once.
func questions(p *plan.Plan) ([]plan.Measurement, error) {
	all := slices.Clone(p.Measurements)
	for _, s := range p.Synthetic {
		candidates, err := candidatesOf(p, s)
		if err != nil {
			return nil, fmt.Errorf("microdata of %s: %w", s.Table, err)
		}
		all = append(all, candidates...)
	}
	return all, nil
}
