package synth

import (
	"fmt"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/adaptive"
)

// This file holds the checks of rounds: that their method can make them.

// checkRounds returns an error unless method mst can make these rounds.
func checkRounds(p *plan.Plan, synthetic plan.Synthetic, made measured.Rounds) error {
	rounds, pairs, joined := made.All, adaptive.Candidates(synthetic), adaptive.ForestOf(synthetic)
	if len(rounds) > synthetic.Rounds {
		return fmt.Errorf("the microdata of %s have %d rounds, more than the %d of the plan", synthetic.Table,
			len(rounds),
			synthetic.Rounds)
	}
	for i, r := range rounds {
		if r.Choice < 0 || r.Choice >= len(pairs) || !joined.WouldJoin(pairs[r.Choice]) {
			return fmt.Errorf("round %d of the microdata of %s: %d was not to be chosen", i+1, synthetic.Table,
				r.Choice)
		}
		mechanism := r.Measured.Measurement.Mechanism
		if err := checkRound(p, synthetic, i, r.Choice, made.Classes, mechanism, r.Measured); err != nil {
			return fmt.Errorf("round %d of the microdata of %s: %w", i+1, synthetic.Table, err)
		}
		joined.Join(pairs[r.Choice])
	}
	return nil
}

// checkColumns returns an error unless columns are the complete measurements of the method's columns, in order.
func checkColumns(p *plan.Plan, s plan.Synthetic, columns []measured.Measured) error {
	if len(s.By) == 0 || len(columns) != len(s.By) {
		return fmt.Errorf("the microdata of %s have %d columns, of which %d are measured", s.Table, len(s.By),
			len(columns))
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

// checkRound returns an error unless an answer is the complete measurement of a choice.
func checkRound(p *plan.Plan, s plan.Synthetic, round, choice int, classes [][]int, noise budget.Mechanism,
	answer measured.Measured) error {
	m, err := adaptive.Answer(p, s, round, choice, classes, noise)
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
