package release

import (
	"context"
	"math/big"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/internal/progress"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/synth"
)

// This file holds the progress of adaptive rounds: which round it is, and how much of their budget is used. Both follow
// from mechanisms and paid answers alone.

// usedParts is how finely the part of the budget that is used is told.
const usedParts = 1000

// toldOracle is an oracle that reports each round before it is chosen.
type toldOracle struct {
	synth.Oracle
	tell  func(progress.Progress)
	asked plan.Synthetic
	used  *big.Rat // ρ of the rounds so far
}

// toldRounds has the rounds of a method reported; tell may be nil.
func toldRounds(o synth.Oracle, asked plan.Synthetic, tell func(progress.Progress)) synth.Oracle {
	if tell == nil {
		return o
	}
	return &toldOracle{o, tell, asked, new(big.Rat)}
}

// Select reports the round that begins.
func (o *toldOracle) Select(ctx context.Context, round int, how budget.Mechanism, candidates []int, models [][]int64,
	penalties []int64) (int, error) {
	o.report(round)
	choice, err := o.Oracle.Select(ctx, round, how, candidates, models, penalties)
	o.used.Add(o.used, how.Rho())
	return choice, err
}

// Measure counts the answer into what is used.
func (o *toldOracle) Measure(ctx context.Context, round, choice int, noise budget.Mechanism) (measured.Measured,
	error) {
	answer, err := o.Oracle.Measure(ctx, round, choice, noise)
	o.used.Add(o.used, noise.Rho())
	return answer, err
}

func (o *toldOracle) report(round int) {
	part, _ := new(big.Rat).Quo(o.used, o.asked.Block.Rho()).Float64()
	o.tell(progress.Progress{Table: o.asked.Table, Round: round + 1, Rounds: o.asked.Rounds, Rows: int64(part * usedParts),
		All: usedParts})
}
