package release

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/dprelease/dprelease/budget/ledger"
	"github.com/dprelease/dprelease/histogram"
	"github.com/dprelease/dprelease/histogram/source"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/plan"
)

// MeasuredFolder is where a release's sealed measurements are kept.
func MeasuredFolder(out, release string) string {
	return filepath.Join(out, release+".measured")
}

// Measure draws the plan's measurements and seals them in out/NAME.measured.
// already is true where that folder holds this plan's measurements.
//
// Contract: the account is debited, durably, before the first draw; a run that
// fails before its debit leaves nothing spent; a run cut off after it resumes
// with the same key to the same noise, and only for the same exact counts; the
// key is erased once the measurements are durable. The plan must come from the
// planner: [Load] or [ReadPlan].
func Measure(ctx context.Context, p *plan.Plan, o Options) (already bool, err error) {
	place := MeasuredFolder(o.Out, p.Name)
	if done, err := sealedFor(place, p, o); err != nil {
		return false, err
	} else if done {
		return true, forget(ctx, o.stateDir(), p.Name, p.Hash())
	}
	if err := histogram.CheckMemory(p); err != nil {
		return false, err
	}
	l, charge, err := o.openLedger(ctx, p)
	if err != nil {
		return false, err
	}
	defer l.Close()
	a := &attempt{plan: p, options: o, ledger: l, charge: charge, place: place}
	return false, a.measure(ctx)
}

// sealedFor tells whether place already holds the plan's measurements, drawn on
// the kind of account that is in force; anything else there is an error.
func sealedFor(place string, p *plan.Plan, o Options) (bool, error) {
	there, err := exists(place)
	if err != nil || !there {
		return false, err
	}
	b, err := os.ReadFile(filepath.Join(place, measured.PlanFile))
	if err != nil {
		return false, &Occupied{Place: place, Why: "holds something else than measurements"}
	}
	if !bytes.Equal(b, p.Bytes()) {
		return false, &Occupied{Place: place, Why: "holds the measurements of another plan"}
	}
	var record ledger.Record
	b, err = os.ReadFile(filepath.Join(place, measured.ReceiptFile))
	if err == nil {
		err = json.Unmarshal(b, &record)
	}
	if err != nil {
		return false, &BrokenSeal{Err: fmt.Errorf("%s: %w", place, err)}
	}
	return true, o.accepts(place, record.Status)
}

// attempt is one measurement run of a real release.
type attempt struct {
	plan    *plan.Plan
	options Options
	ledger  *ledger.Ledger
	charge  ledger.Charge
	place   string
	resumed bool // the key is that of an earlier run, which was debited
}

// measure keeps the order of a release: reserve, count, debit, draw, seal, erase.
func (r *attempt) measure(ctx context.Context) error {
	st, err := openState(ctx, r.options.stateDir(), r.plan.Name, r.plan.Hash())
	if err != nil {
		return err
	}
	defer st.close()
	if done, err := sealedFor(r.place, r.plan, r.options); done || err != nil {
		return errors.Join(err, st.clear()) // by the process that was waited for
	}
	debited, err := r.ledger.Debited(ctx, r.charge)
	if err != nil {
		return err
	}
	if err := r.ledger.Reserve(ctx, r.charge); err != nil {
		return r.refusal(err)
	}
	key, err := r.key(st, debited)
	if err != nil {
		return err
	}
	streams := noise.NewStreams(key, r.plan.Hash())
	key.Erase()
	defer streams.Erase()
	out, err := stage(r.options.Out, filepath.Base(r.place))
	if err == nil {
		defer out.discard()
		err = r.draw(ctx, out, streams)
	}
	if err != nil {
		return r.giveUp(st, err)
	}
	if err := out.commit(); err != nil {
		return fmt.Errorf("%w (the budget is spent; run again and the release resumes to the same noise)", err)
	}
	r.options.logger().Info("measurements sealed", "folder", r.place)
	return st.clear()
}

// refusal adds to the ledger's words what a person on a practice account needs.
func (r *attempt) refusal(err error) error {
	var (
		refused  *ledger.Refused
		mismatch *ledger.TermsMismatch
	)
	if r.options.Ledger == "" && (errors.As(err, &refused) || errors.As(err, &mismatch)) {
		return &PracticeRefused{Ledger: r.options.practiceLedger(), Err: err}
	}
	return err
}

// key is the key of the run. One that is found in the state is taken only where
// the release was debited, and the ledger then knows it; before its debit, every
// run draws its own.
func (r *attempt) key(st *state, debited string) (noise.Key, error) {
	if debited == "" {
		return st.newKey()
	}
	key, there, err := st.oldKey()
	if err == nil && !there {
		err = &ledger.Closed{Account: r.charge.Account, Release: r.plan.Name, Date: debited}
	}
	r.resumed = true
	return key, err
}

// draw counts, debits, draws and writes the measurements into the staging folder.
func (r *attempt) draw(ctx context.Context, out *staging, streams *noise.Streams) error {
	log := r.options.logger()
	if err := out.ballast(8*r.plan.Size.Cells + 4096*int64(len(r.plan.Measurements))); err != nil {
		return err
	}
	log.Info("counting", "release", r.plan.Name, "tables", len(r.plan.Tables))
	exact, err := histogram.Count(ctx, r.plan, r.options.Data, streams, histogram.Options{})
	if err != nil {
		return err
	}
	r.charge.Commitment = exact.Commitment(streams)
	receipt, err := r.ledger.Debit(ctx, r.charge)
	if err != nil {
		return err
	}
	log.Info("budget debited", "account", r.charge.Account, "cost", r.charge.Cost.String())
	all, err := drawAll(ctx, r.plan, exact, receipt, streams)
	if err != nil {
		return err
	}
	record, err := recordOf(receipt)
	if err != nil {
		return err
	}
	return measured.Seal(out.write, r.plan, record, statusText(receipt.Status()), all)
}

// giveUp ends a run that failed: before the debit nothing is spent and the key
// is not needed again; after it the key stays, so that a new run resumes.
func (r *attempt) giveUp(st *state, cause error) error {
	ctx := context.Background()
	debited, err := r.ledger.Debited(ctx, r.charge)
	if err != nil {
		return errors.Join(cause, err)
	}
	var closed *ledger.Closed
	if errors.As(cause, &closed) {
		if r.resumed {
			return &InputChanged{Release: r.plan.Name, Date: closed.Date}
		}
		return errors.Join(cause, st.erase())
	}
	if debited != "" {
		return fmt.Errorf("%w (the budget is spent; run again and the release resumes to the same noise)", cause)
	}
	cause = diagnose(st, cause)
	return errors.Join(cause, r.ledger.Cancel(ctx, r.charge), st.erase())
}

// diagnose writes the confidential details of a data error into the state.
func diagnose(st *state, cause error) error {
	var (
		contract *histogram.ContractError
		input    *source.Error
		details  func(io.Writer) error
	)
	switch {
	case errors.As(cause, &contract):
		details = contract.WriteDiagnostics
	case errors.As(cause, &input) && input.Detail != "":
		details = func(w io.Writer) error {
			_, err := io.WriteString(w, input.Diagnostics()+"\n")
			return err
		}
	default:
		return cause
	}
	path, err := st.diagnose(details)
	if err != nil {
		return errors.Join(cause, err)
	}
	return &Diagnosed{File: path, Err: cause}
}

// drawAll opens the exact counts with the receipt of their debit and draws every
// measurement, in the plan's order.
func drawAll(ctx context.Context, p *plan.Plan, exact *histogram.Exact, receipt ledger.Receipt, streams *noise.Streams) ([]measured.Measured, error) {
	opened, err := exact.Open(receipt, streams)
	if err != nil {
		return nil, err
	}
	all := make([]measured.Measured, len(p.Measurements))
	for i, m := range p.Measurements {
		if all[i], err = opened.Measure(ctx, m); err != nil {
			return nil, fmt.Errorf("measurement %s: %w", m.ID, err)
		}
	}
	return all, nil
}

// recordOf is what is published of a receipt.
func recordOf(receipt ledger.Receipt) ([]byte, error) {
	b, err := json.MarshalIndent(receipt.Record(), "", "  ")
	return append(b, '\n'), err
}
