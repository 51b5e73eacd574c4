package release

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/dprelease/dprelease/budget/ledger"
	"github.com/dprelease/dprelease/histogram/respondent"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/internal/progress"
	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/internal/verdict"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/planner"
)

// This file holds the step of a release whose answers were randomised on the respondents' devices.

// UnfitReports reports that the reports are not what the spec says of them.
type UnfitReports struct{ Err error }

func (e *UnfitReports) Error() string { return e.Err.Error() + ": nothing was published" }

func (e *UnfitReports) Unwrap() error { return e.Err }

// Verdict returns that the data break their contract.
func (*UnfitReports) Verdict() verdict.Verdict {
	return verdict.Verdict{Exit: verdict.ExitData, Reason: verdict.InputContract, Retry: verdict.Later}
}

// RecordCollection debits what each respondent will lose by a collection, before its public file goes to devices. The
// reports are then counted under that debit.
//
// Errors: those of [Measure] before its debit.
func RecordCollection(ctx context.Context, p *compiled.Compiled, o Options) error {
	l, charge, err := o.openLedger(ctx, p)
	if err != nil {
		return err
	}
	defer l.Close()
	charge.Commitment = commitmentToReports(p)
	_, err = l.Debit(ctx, charge)
	return err
}

// measureReports counts the reports, seals what was counted, and records that. The debit, which may have been made
// before ([RecordCollection]), is of the ε that each respondent has lost on the device; it is the same however many
// reports there are. Counting costs nothing and draws nothing, so there is no key, and a run that was cut off counts
// again.
func (r *attempt) measureReports(ctx context.Context) error {
	if err := r.checkInputs(); err != nil {
		return err
	}
	if _, err := planner.Verify(r.plan); err != nil {
		return err
	}
	progress.Begin(ctx, 0, "counting the reports of %s", r.plan.Release().Collection.Name)
	counted, err := respondent.Count(ctx, r.plan.Plan(), r.options.Data, r.options.Memory)
	if verdict.Has[*respondent.Unfit](err) {
		err = &UnfitReports{err}
	}
	if err != nil {
		return err
	}
	r.charge.Commitment = commitmentToReports(r.plan)
	receipt, err := r.ledger.Debit(ctx, r.charge)
	if err != nil {
		return r.explainRefusal(explainCounted(err, r.place))
	}
	r.options.logger().Info("counting reports costs nothing; what each respondent lost on the device is recorded",
		"account", r.charge.Account, "cost", r.charge.Cost.String())
	s, err := sealedReports(r.plan, receipt, counted)
	if err != nil {
		return err
	}
	out, err := stage(r.options.Out, filepath.Base(r.place))
	if err != nil {
		return err
	}
	defer out.discard()
	if err := measured.Seal(out.Write, s); err != nil {
		return err
	}
	if err := out.commit(); err != nil {
		return err
	}
	return finishInLedger(ctx, r.ledger, r.charge, r.place)
}

// CountedBefore reports that the reports of a collection were counted and sealed before, in a folder that is not there.
type CountedBefore struct {
	Folder string
	Err    error // of the ledger
}

func (e *CountedBefore) Error() string {
	return fmt.Sprintf("the reports of this collection were counted and sealed before, and the account says with "+
		"which result: %s is missing; restore it from a backup, and publish that",
		e.Folder)
}

func (e *CountedBefore) Unwrap() error { return e.Err }

// Verdict returns that the release is closed.
func (*CountedBefore) Verdict() verdict.Verdict {
	return verdict.Verdict{Exit: verdict.ExitName, Reason: verdict.ReleaseClosed, Retry: verdict.Never}
}

// explainCounted explains the refusal to debit a collection whose count is finished. It returns other errors unchanged.
func explainCounted(err error, place string) error {
	var closed *ledger.Closed
	if errors.As(err, &closed) && closed.State == ledger.Finished {
		return &CountedBefore{Folder: place, Err: err}
	}
	return err
}

// commitmentToReports returns the commitment of a debit for reports. It is the same whatever the reports are: they can
// be counted as often as anybody likes.
func commitmentToReports(p *compiled.Compiled) string {
	return plan.HashOf([]byte("the reports of plan " + p.Hash()))
}

// sealedReports returns what is sealed of reports that were counted.
func sealedReports(p *compiled.Compiled, receipt ledger.Receipt, counted []measured.Measured) (s *measured.Sealed,
	err error) {
	s = &measured.Sealed{Plan: p, Status: published.StatusText(receipt.Status()), Measured: counted}
	s.Receipt, err = published.EncodeRecord(receipt.Record())
	return s, err
}

// reportsMadeUp counts the reports of made-up respondents, with the receipt of a rehearsal.
func reportsMadeUp(ctx context.Context, p *compiled.Compiled, respondents int64) (*measured.Sealed, error) {
	counted, err := respondent.MadeUp(ctx, p.Plan(), respondents)
	if err != nil {
		return nil, err
	}
	receipt, err := rehearsedDebit(ctx, p, commitmentToReports(p))
	if err != nil {
		return nil, err
	}
	return sealedReports(p, receipt, counted)
}
