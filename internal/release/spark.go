package release

// This file writes the job of tables that Spark counts.

import (
	"context"
	"errors"

	"github.com/dprelease/dprelease/budget/ledger"
	"github.com/dprelease/dprelease/histogram"
	"github.com/dprelease/dprelease/histogram/engine"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/internal/state"
	"github.com/dprelease/dprelease/plan/compiled"
)

// EmitSpark writes the next round of the job by which Spark counts a plan that was prepared, into a folder. It returns
// the number of the round, and 0 if the folder has all counts. It spends nothing.
//
// Errors: those of [engine.EmitSpark]. Their details are written to a confidential file in the state directory.
func EmitSpark(ctx context.Context, p *compiled.Compiled, o Options, dir string) (round int, err error) {
	if !engine.HasSpark(p.Release()) {
		return 0, refusePreparing(p, "has no table in Spark: leave out --emit and --counted")
	}
	q, err := histogram.QuestionsOf(p.Plan())
	if err != nil {
		return 0, err
	}
	err = o.withState(ctx, p, func(l *ledger.Ledger, charge ledger.Charge, st *state.State) error {
		if debited, err := l.Debited(ctx, charge); err != nil || debited != "" {
			return errors.Join(err, closedSince(debited, charge))
		}
		if !st.HasKeyForOtherMachines() {
			return preparationMismatch(p, false)
		}
		key, err := preparedKey(st, true, Division{Spark: true}, nil)
		if err != nil {
			return err
		}
		streams := noise.NewStreams(key, p.Hash())
		key.Erase()
		defer streams.Erase()
		round, err = engine.EmitSpark(ctx, q, streams.Rows(), dir)
		return err
	})
	if err != nil {
		return 0, o.keepDetails(err)
	}
	return round, nil
}

// countedElsewhere returns the folder with what was counted elsewhere, "" if everything is counted here.
func (r *attempt) countedElsewhere() (string, error) {
	inSpark := engine.HasSpark(r.plan.Release())
	switch {
	case inSpark && r.options.FromShards != "":
		return "", refusePreparing(r.plan, "has a table in Spark: leave out --from-shards")
	case !inSpark && r.options.FromSpark != "":
		return "", refusePreparing(r.plan, "has no table in Spark: leave out --emit and --counted")
	case inSpark:
		return r.options.FromSpark, nil
	}
	return r.options.FromShards, nil
}
