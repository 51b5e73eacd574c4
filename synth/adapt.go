package synth

import (
	"context"
	"fmt"
	"slices"

	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/plan"
)

// This file holds the adaptive method: which pairs of columns are measured, chosen in rounds.

// Oracle answers an adaptive method, within what its plan allows.
type Oracle interface {
	// Select chooses the pair of a round among candidates, which are places in [plan.Synthetic.Pairs], each by how
	// far its exact counts lie, in L1, from models: models[i] holds the counts that are expected of candidates[i],
	// row-major, in units of 1/[plan.ModelScale], each in [0, 2^50]. It returns one of the candidates.
	Select(ctx context.Context, round int, candidates []int, models [][]int64) (choice int, err error)
	// Measure answers the pair of a round.
	Measure(ctx context.Context, round, choice int) (measured.Measured, error)
}

// Adapt runs a method of the plan: its rounds in order. columns are the sealed measurements of the single columns, in
// the order of s.By.
//
// A round asks for the pair of columns, among those that close no cycle with the pairs before, whose counts are
// farthest from what they would be if the columns did not depend on each other (MST: McKenna, Miklau & Sheldon 2021).
// What it asks depends on nothing but the plan, columns and the choices so far, to the bit, on every machine: a run that
// was cut off asks the same again.
//
// It fails on columns that are not those of the method, and where the oracle does or answers something else than asked.
func Adapt(ctx context.Context, p *plan.Plan, s plan.Synthetic, columns []measured.Measured, o Oracle) ([]measured.Round, error) {
	if err := checkColumns(p, s, columns); err != nil {
		return nil, err
	}
	total, _ := totalOf(columns)
	pairs := s.Pairs()
	m := fit(max(total, 1), columns, pairs, nil)
	expected := make([][]int64, len(pairs))
	for i, pair := range pairs {
		expected[i] = m.independent(pair)
	}
	joined := s.Forest()
	var rounds []measured.Round
	for round := range s.Rounds {
		var candidates []int
		var models [][]int64
		for i, pair := range pairs {
			if joined.Apart(pair) {
				candidates, models = append(candidates, i), append(models, expected[i])
			}
		}
		if len(candidates) == 0 {
			break
		}
		choice, err := o.Select(ctx, round, candidates, models)
		if err != nil {
			return nil, fmt.Errorf("round %d of the microdata of %s: %w", round+1, s.Table, err)
		}
		if !slices.Contains(candidates, choice) {
			return nil, fmt.Errorf("round %d of the microdata of %s: %d is not among the candidates", round+1, s.Table, choice)
		}
		answer, err := o.Measure(ctx, round, choice)
		if err == nil {
			err = checkPair(p, s, pairs[choice], answer)
		}
		if err != nil {
			return nil, fmt.Errorf("round %d of the microdata of %s: %w", round+1, s.Table, err)
		}
		joined.Join(pairs[choice])
		rounds = append(rounds, measured.Round{Choice: choice, Measured: answer})
	}
	return rounds, nil
}

// checkColumns returns an error unless columns are measurements of the method's columns, whole and in order.
func checkColumns(p *plan.Plan, s plan.Synthetic, columns []measured.Measured) error {
	if len(s.By) == 0 || len(columns) != len(s.By) {
		return fmt.Errorf("the microdata of %s have %d columns, of which %d are measured", s.Table, len(s.By), len(columns))
	}
	levels, err := plan.Query{Table: s.Table, Factors: s.By}.Levels(p.Release())
	if err != nil {
		return fmt.Errorf("the microdata of %s: %w", s.Table, err)
	}
	for i, m := range columns {
		if err := checkAnswer(m, s.Column(i), levels[i].Size()); err != nil {
			return err
		}
	}
	return nil
}

// checkPair returns an error unless an answer is the measurement of a pair, whole.
func checkPair(p *plan.Plan, s plan.Synthetic, pair [2]int, answer measured.Measured) error {
	m, err := p.Pair(s, pair)
	if err != nil {
		return err
	}
	return checkAnswer(answer, m.ID, int(m.Cells))
}

func checkAnswer(m measured.Measured, id string, cells int) error {
	if m.Measurement.ID != id {
		return fmt.Errorf("measurement %s stands where %s is expected", m.Measurement.ID, id)
	}
	if cells == 0 || m.Values == nil || m.Values.Len() != cells {
		return fmt.Errorf("measurement %s does not have %d answers", id, cells)
	}
	return nil
}
