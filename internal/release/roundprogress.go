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

// This file reports the progress of adaptive rounds: the number of the round and the share of the budget that is used.
// Both follow from mechanisms and paid answers alone.

// usedParts is the resolution at which the used share of the budget is reported.
const usedParts = 1000

// reportingOracle is an oracle that reports each round before its choice is made.
type reportingOracle struct {
	synth.Oracle
	report func(progress.Progress)
	method plan.Synthetic
	used   *big.Rat // ρ of the rounds so far
}

// reportRounds returns an oracle that reports the rounds of a method; report may be nil.
func reportRounds(o synth.Oracle, method plan.Synthetic, report func(progress.Progress)) synth.Oracle {
	if report == nil {
		return o
	}
	return &reportingOracle{o, report, method, new(big.Rat)}
}

// Select reports the round that begins.
func (o *reportingOracle) Select(ctx context.Context, round int, how budget.Mechanism, candidates []int,
	models [][]int64, penalties []int64) (int, error) {
	o.reportRound(round)
	choice, err := o.Oracle.Select(ctx, round, how, candidates, models, penalties)
	o.used.Add(o.used, how.Rho())
	return choice, err
}

// Measure adds the loss of the answer to the used budget.
func (o *reportingOracle) Measure(ctx context.Context, round, choice int, noise budget.Mechanism) (measured.Measured,
	error) {
	answer, err := o.Oracle.Measure(ctx, round, choice, noise)
	o.used.Add(o.used, noise.Rho())
	return answer, err
}

func (o *reportingOracle) reportRound(round int) {
	part, _ := new(big.Rat).Quo(o.used, o.method.Block.Rho()).Float64()
	o.report(progress.Progress{Table: o.method.Table, Round: round + 1, Rounds: o.method.Rounds,
		Rows: int64(part * usedParts), Total: usedParts})
}
