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

// beginRounds reports that the rounds of a method begin, whose parts are thousandths of their budget.
func beginRounds(ctx context.Context, method plan.Synthetic) context.Context {
	return progress.Begin(ctx, progress.Whole, "microdata of %s", method.Table)
}

// reportingOracle is an oracle that reports each round before its choice is made.
type reportingOracle struct {
	synth.Oracle
	method   plan.Synthetic
	used     *big.Rat // ρ of the rounds so far
	reported int64    // parts of the step
}

// reportRounds returns an oracle that reports the rounds of a method, in the context of [beginRounds].
func reportRounds(o synth.Oracle, method plan.Synthetic) synth.Oracle {
	return &reportingOracle{o, method, new(big.Rat), 0}
}

// Select reports the round that begins.
func (o *reportingOracle) Select(ctx context.Context, round int, how budget.Mechanism, candidates []int,
	models [][]int64, penalties []int64) (int, error) {
	o.reportUsed(ctx)
	progress.Rename(ctx, "microdata of %s, round %d of at most %d", o.method.Table, round+1, o.method.Rounds)
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

// reportUsed reports the share of the budget that is used.
func (o *reportingOracle) reportUsed(ctx context.Context) {
	share, _ := new(big.Rat).Quo(o.used, o.method.Block.Rho()).Float64()
	parts := int64(share * progress.Whole)
	progress.Add(ctx, parts-o.reported)
	o.reported = parts
}
