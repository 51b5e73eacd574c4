package release

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/budget/ledger"
	"github.com/dprelease/dprelease/histogram"
	"github.com/dprelease/dprelease/histogram/scan"
	"github.com/dprelease/dprelease/internal/account"
	"github.com/dprelease/dprelease/internal/diagnostics"
	"github.com/dprelease/dprelease/internal/durable"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/internal/progress"
	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/internal/state"
	"github.com/dprelease/dprelease/internal/verdict"
	"github.com/dprelease/dprelease/plan/adaptive"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/synth"
)

// MeasuredFolder is where a release's sealed measurements are kept.
func MeasuredFolder(out, release string) string {
	return filepath.Join(out, release+".measured")
}

// Measure draws the plan's measurements and seals them in out/NAME.measured.
// The result says so where that folder holds this plan's measurements already.
//
// Contract: the account is debited, durably, before the first draw; a run that
// fails before its debit leaves nothing spent; a run cut off after it resumes
// with the same key to the same noise, and only for the same exact counts; the
// key is erased once the measurements are durable. The plan must come from the
// planner: [planfile.Load] or [planfile.Read].
func Measure(ctx context.Context, p *compiled.Compiled, o Options) (Result, error) {
	place := MeasuredFolder(o.Out, p.Name)
	record, err := sealedFor(place, p, o)
	if err != nil {
		return Result{}, err
	}
	if record != nil {
		if err := o.already(ctx, p, place, *record); err != nil {
			return Result{}, err
		}
		changed, err := o.inputsChanged(ctx, p)
		return Result{Place: place, Status: published.StatusText(record.Status), Already: true, InputsChanged: changed}, err
	}
	if err := o.checkMemory(p); err != nil {
		return Result{}, err
	}
	if err := durable.MakeFolder(o.Out, 0o755); err != nil {
		return Result{}, fmt.Errorf("output folder: %w", err)
	}
	l, charge, err := o.openLedger(ctx, p)
	if err != nil {
		return Result{}, err
	}
	defer l.Close()
	a := &attempt{plan: p, options: o, ledger: l, charge: charge, place: place}
	if err := a.measure(ctx); err != nil {
		return Result{}, err
	}
	return Result{Place: place}, nil
}

// attempt is one measurement run of a real release.
type attempt struct {
	plan     *compiled.Compiled
	options  Options
	ledger   *ledger.Ledger
	charge   ledger.Charge
	place    string
	accounts []string // that pay, each with its ledger's identity
	resumed  bool     // the key is that of an earlier run, and the release was debited
	paid     bool     // this run has its receipt
}

// measure keeps the order of a release: reserve, count, debit, draw, seal, erase.
func (r *attempt) measure(ctx context.Context) error {
	identity, err := r.ledger.Identity(ctx)
	if err != nil {
		return err
	}
	st, err := state.Open(ctx, r.options.StateDir(), state.Name(identity, r.charge))
	if err != nil {
		return err
	}
	defer st.Close()
	if record, err := sealedFor(r.place, r.plan, r.options); err != nil {
		return err
	} else if record != nil { // by the process that was waited for
		if err := errors.Join(durable.SyncDir(r.options.Out), settle(ctx, r.ledger, r.place, *record)); err != nil {
			return err
		}
		return st.Clear()
	}
	debited, err := r.ledger.Debited(ctx, r.charge)
	if err != nil {
		return err
	}
	r.accounts = payers(identity, r.charge)
	if debited == "" {
		if err := r.admit(); err != nil {
			return r.giveUp(st, err) // cancels what a run that was cut off had reserved
		}
	}
	if err := r.ledger.Reserve(ctx, r.charge); err != nil {
		if debited == "" || ended(err) {
			err = errors.Join(err, st.Erase())
		}
		return r.refusal(err)
	}
	key, err := r.key(st, debited)
	if err != nil {
		return r.giveUp(st, err)
	}
	streams := noise.NewStreams(key, r.plan.Hash())
	key.Erase()
	defer streams.Erase()
	out, err := stage(r.options.Out, filepath.Base(r.place))
	if err == nil {
		defer out.discard()
		err = r.draw(ctx, st, out, streams)
	}
	if err == nil {
		err = out.commit()
	}
	if err != nil {
		return r.giveUp(st, err)
	}
	r.options.logger().Info("measurements sealed", "folder", r.place)
	switch err := finish(ctx, r.ledger, r.charge, r.place); {
	case ended(err): // somebody gave the release up meanwhile: what was drawn goes nowhere
		return errors.Join(err, os.RemoveAll(r.place), durable.SyncDir(r.options.Out), st.Clear())
	case err != nil:
		return &Spent{Err: err}
	}
	return errors.Join(st.Clear(), state.ClearSiblings(r.options.StateDir(), r.plan.Name))
}

// admit returns an error unless the files that will be counted are there, and none of them is a public file of the
// plan. It opens none, and the account hears nothing of it: a job that waits for a late file leaves no entries.
func (r *attempt) admit() error {
	inputs, err := inputsOf(r.plan, r.options.Data)
	if err != nil {
		return err
	}
	return keepApart(r.plan, r.options.Data, inputs)
}

// ended tells whether an error says that a debited release was finished, abandoned
// or withdrawn: its key is of no more use.
func ended(err error) bool {
	var closed *ledger.Closed
	return errors.As(err, &closed) && closed.State != ledger.Debited && closed.State != ""
}

// refusal adds to the ledger's words what a person on a practice account needs.
func (r *attempt) refusal(err error) error {
	if r.options.Ledger == "" && (verdict.Has[*ledger.Refused](err) || verdict.Has[*ledger.TermsMismatch](err)) {
		return &PracticeRefused{Ledger: account.Practice(r.options.StateDir()), Err: err}
	}
	return err
}

// key is the key of the run. One that is found in the state is taken only where
// the release was debited, and the ledger then knows it; before its debit, every
// run draws its own, and keeps it unless the spec says that it never resumes.
func (r *attempt) key(st *state.State, debited string) (noise.Key, error) {
	if debited == "" {
		return st.NewKey(r.plan.Resume != spec.Never)
	}
	key, there, err := st.OldKey()
	if err == nil && !there {
		return key, &ledger.Closed{Account: r.charge.Account, Release: r.plan.Name, Date: debited}
	}
	r.resumed = true // also where the key could not be read just now
	return key, err
}

// draw counts, debits, draws and writes the measurements into the staging folder.
func (r *attempt) draw(ctx context.Context, st *state.State, out *staging, streams *noise.Streams) error {
	log := r.options.logger()
	if err := r.ballast(st, out); err != nil {
		return err
	}
	log.Info("counting", "release", r.plan.Name, "tables", len(r.plan.Tables))
	r.options.step("counting %s", strings.Join(tablesOf(r.plan), ", "))
	exact, note, err := r.count(ctx, streams)
	if err != nil {
		return err
	}
	if !r.resumed {
		if err := note(ctx); err != nil {
			return err
		}
	}
	r.charge.Commitment = exact.Commitment(streams)
	receipt, err := r.ledger.Debit(ctx, r.charge)
	if err != nil {
		return err
	}
	r.paid = true
	if r.resumed { // these are the files that were paid for: the debit says so
		if err := note(ctx); err != nil {
			return err
		}
	}
	log.Info("budget debited", "account", r.charge.Account, "cost", r.charge.Cost.String())
	r.options.step("budget debited; drawing the noise of %s", budget.Plural(int64(len(r.plan.Measurements)),
		"measurement"))
	journal, err := r.journal(st)
	if err != nil {
		return err
	}
	defer journal.close()
	sealed, err := drawAll(ctx, r.plan, exact, receipt, streams, journal, r.options.Progress)
	if err != nil {
		return err
	}
	return measured.Seal(out.Write, sealed)
}

// count counts, and refuses a plan that publishes the content of a confidential file. note records which files were
// counted.
func (r *attempt) count(ctx context.Context, streams *noise.Streams) (exact *histogram.Exact,
	note func(context.Context) error, err error) {
	inputs, err := inputsOf(r.plan, r.options.Data)
	if err != nil {
		return nil, nil, err
	}
	if !r.resumed {
		counted, err := readSources(r.options.StateDir())
		if err == nil {
			err = counted.keepFrom(r.plan, r.accounts)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	reader, stop := context.WithCancel(ctx)
	defer stop()
	reading := read(reader, inputs)
	if exact, err = histogram.Count(ctx, r.plan, scan.Files{Dir: r.options.Data, Options: r.options.counting()},
		streams); err != nil {
		return nil, nil, err
	}
	contents, err := reading.wait()
	if err != nil {
		return nil, nil, err
	}
	if !r.resumed {
		if err := keepContentsApart(r.plan, inputs, contents); err != nil {
			return nil, nil, err
		}
	}
	return exact, func(ctx context.Context) error {
		return noteSources(ctx, r.options.StateDir(), r.accounts, r.plan, inputs, contents)
	}, nil
}

// tablesOf are the confidential tables that a plan counts.
func tablesOf(p *compiled.Compiled) []string {
	var names []string
	for _, t := range p.Tables {
		if !slices.Contains(names, t.From) {
			names = append(names, t.From)
		}
	}
	for _, s := range p.Synthetic {
		if !slices.Contains(names, s.Table) {
			names = append(names, s.Table)
		}
	}
	return names
}

// journal is that of the run's adaptive rounds: kept beside the key, and in memory only
// where that is.
func (r *attempt) journal(st *state.State) (*journal, error) {
	if !r.journalled() {
		return &journal{}, nil
	}
	return openJournal(st.JournalPath(), r.plan.Hash(), r.charge.Commitment)
}

// journalled tells whether the run keeps a journal of adaptive rounds.
func (r *attempt) journalled() bool {
	return r.plan.Adapts() && r.plan.Resume != spec.Never
}

// journalBytes is the most that an answer takes in a journal, with what parts it from
// the next.
const journalBytes = 21

// ballast checks that there is space for the measurements, and for the journal.
func (r *attempt) ballast(st *state.State, out *staging) error {
	answers, files, err := ofRounds(r.plan)
	if err != nil {
		return err
	}
	if err := ballast(out.Dir, 8*(r.plan.Size.Cells+answers)+4096*(int64(len(r.plan.Measurements))+files)); err != nil ||
		!r.journalled() {
		return err
	}
	return ballast(st.Dir, journalBytes*answers+4096*files)
}

// ofRounds is about how many integers the rounds of the adaptive methods answer at the most,
// and in how many files. (Where there is no room for a journal after all, the run stops, and
// resumes once there is.)
func ofRounds(p *compiled.Compiled) (answers, files int64, err error) {
	for _, method := range p.Synthetic {
		if !method.Adaptive() {
			continue
		}
		cells, err := adaptive.Cells(p.Plan(), method)
		if err != nil {
			return 0, 0, err
		}
		answers, files = answers+adaptive.MostAnswers(method, cells), files+1+int64(method.Rounds)
	}
	return answers, files, nil
}

// giveUp ends a run that failed. Before its debit nothing is spent and its key is
// not needed again; after it the key stays, so that a new run resumes. A release
// that another run has debited, with another key, is closed to this one.
func (r *attempt) giveUp(st *state.State, cause error) error {
	ctx := context.Background()
	if !r.paid { // the debit may be there although it was not answered: a debit cannot be cancelled
		if err := r.ledger.Cancel(ctx, r.charge); err != nil {
			return errors.Join(cause, err) // it cannot be told: the key stays, and the next run will know
		}
	}
	if !r.paid && r.charge.Commitment != "" {
		debited, err := r.ledger.Debited(ctx, r.charge)
		if err == nil && debited != "" {
			_, err = r.ledger.Debit(ctx, r.charge)
			r.paid = err == nil
		}
		if err != nil && !verdict.Has[*ledger.Closed](err) {
			return errors.Join(cause, err)
		}
	}
	var closed *ledger.Closed
	switch {
	case ended(cause):
		return errors.Join(cause, st.Erase())
	case errors.As(cause, &closed) && r.resumed:
		return &Spent{Err: &InputChanged{Release: r.plan.Name, Date: closed.Date}}
	case r.paid || r.resumed:
		return &Spent{Err: diagnostics.Write(st.Dir, cause), Lost: r.plan.Resume == spec.Never}
	}
	return errors.Join(diagnostics.Write(st.Dir, cause), st.Erase())
}

// drawAll opens the exact counts with the receipt of their debit and draws every
// measurement, in the plan's order; then the rounds of its adaptive methods, each by
// way of the journal. tell, where not nil, is told of the rounds.
func drawAll(ctx context.Context, p *compiled.Compiled, exact *histogram.Exact, receipt ledger.Receipt,
	streams *noise.Streams, j *journal, tell func(progress.Progress)) (*measured.Sealed, error) {
	opened, err := exact.Open(receipt, streams)
	if err != nil {
		return nil, err
	}
	s := &measured.Sealed{Plan: p, Status: published.StatusText(receipt.Status())}
	if s.Receipt, err = published.EncodeRecord(receipt.Record()); err != nil {
		return nil, err
	}
	byID := map[string]measured.Measured{}
	for _, m := range p.Measurements {
		answer, err := opened.Measure(ctx, m)
		if err != nil {
			return nil, fmt.Errorf("measurement %s: %w", m.ID, err)
		}
		s.Measured = append(s.Measured, answer)
		byID[m.ID] = answer
	}
	if p.Adapts() {
		if err := j.rest(s.Measured); err != nil {
			return nil, err
		}
	}
	for i, method := range p.Synthetic {
		if !method.Adaptive() {
			s.Rounds = append(s.Rounds, measured.Rounds{})
			continue
		}
		var columns []measured.Measured
		for c := range method.By {
			columns = append(columns, byID[method.Column(c)])
		}
		oracle, err := opened.Oracle(i)
		if err != nil {
			return nil, fmt.Errorf("microdata of %s: %w", method.Table, err)
		}
		rounds, err := synth.Adapt(ctx, p.Plan(), method, columns, toldRounds(j.oracle(p, i, oracle), method, tell))
		if err != nil {
			return nil, fmt.Errorf("microdata of %s: %w", method.Table, err)
		}
		s.Rounds = append(s.Rounds, rounds)
	}
	return s, j.finished()
}
