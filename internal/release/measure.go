package release

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/budget/ledger"
	"github.com/dprelease/dprelease/histogram"
	"github.com/dprelease/dprelease/histogram/engine"
	"github.com/dprelease/dprelease/histogram/scan"
	"github.com/dprelease/dprelease/internal/account"
	"github.com/dprelease/dprelease/internal/diagnostics"
	"github.com/dprelease/dprelease/internal/durable"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/internal/planfile"
	"github.com/dprelease/dprelease/internal/progress"
	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/internal/seal"
	"github.com/dprelease/dprelease/internal/state"
	"github.com/dprelease/dprelease/internal/verdict"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/adaptive"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/synth"
)

// MeasuredFolder returns the folder of a release's sealed measurements.
func MeasuredFolder(out, release string) string {
	return filepath.Join(out, release+".measured")
}

// Measure draws the plan's measurements and seals them in out/NAME.measured. If that folder already holds the
// measurements of this plan, the result says so.
//
// Contract: the account is debited, durably, before the first draw; a run that fails before its debit leaves nothing
// spent; a run cut off after it resumes with the same key to the same noise, and only for the same exact counts; the
// key is erased once the measurements are durable. The plan must come from the planner: [planfile.Load] or
// [planfile.Read].
func Measure(ctx context.Context, p *compiled.Compiled, o Options) (Result, error) {
	if p.Release().Words == nil {
		return Result{}, &verdict.Unusable{File: planfile.Path(p, o.Out), Err: plan.ErrNoWords}
	}
	masking, err := o.maskingFor(p)
	if err != nil {
		return Result{}, err
	}
	place, err := o.place(p, masking)
	if err != nil {
		return Result{}, err
	}
	record, err := sealedFor(place, p, o)
	if err != nil {
		return Result{}, err
	}
	if record != nil {
		if err := o.reconcileMeasured(ctx, p, place, *record); err != nil {
			return Result{}, err
		}
		if err := o.checkWords(place, p); err != nil {
			return Result{}, err
		}
		if err := o.removeShards(p); err != nil {
			return Result{}, err
		}
		changed, err := o.inputsChanged(ctx, p)
		return Result{Folder: place, Status: published.StatusText(record.Status), AlreadyDone: true,
			InputsChanged: changed}, err
	}
	if masking != nil {
		if done, status, err := masking.maskAgain(ctx, o, p, place); done || err != nil {
			return Result{Folder: place, Status: status}, err
		}
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
	a := &attempt{plan: p, options: o, ledger: l, charge: charge, place: place, masking: masking}
	if err := a.measure(ctx); err != nil {
		return Result{}, err
	}
	return Result{Folder: place}, nil
}

// attempt is one measurement run of a real release.
type attempt struct {
	plan     *compiled.Compiled
	options  Options
	ledger   *ledger.Ledger
	charge   ledger.Charge
	place    string
	masking  *masking // of a holder; nil if the data are in one place
	accounts []string // that pay, each prefixed with the identity of its ledger
	resumed  bool     // an earlier run debited the release and drew the key
	prepared bool     // other machines or Spark count, by the key that was drawn for them
	paid     bool     // this run has the receipt of the debit
}

// measure runs the steps of a release in order: reserve, count, debit, draw, seal, erase.
func (r *attempt) measure(ctx context.Context) error {
	st, identity, err := r.options.openState(ctx, r.ledger, r.charge)
	if err != nil {
		return err
	}
	defer st.Close()
	if record, err := sealedFor(r.place, r.plan, r.options); err != nil {
		return err
	} else if record != nil { // sealed by the process that this one waited for
		if err := errors.Join(durable.SyncDir(r.options.Out), noteSeal(ctx, r.ledger, r.place, *record)); err != nil {
			return err
		}
		return st.Clear()
	}
	if r.plan.Release().Collection != nil {
		return errors.Join(r.measureReports(ctx), st.Clear())
	}
	debited, err := r.ledger.Debited(ctx, r.charge)
	if err != nil {
		return err
	}
	if r.masking != nil && debited == "" && r.masking.entry.Commitment != "" {
		return errDrawnBefore(r.plan)
	}
	r.accounts = payingAccounts(identity, r.charge)
	elsewhere, err := r.countedElsewhere()
	if err != nil {
		return err
	}
	if r.prepared = st.IsPrepared(); debited == "" && r.prepared != (elsewhere != "") {
		return misplaced(r.plan, r.prepared)
	}
	if debited == "" {
		if err := r.checkInputs(); err != nil {
			return r.giveUp(st, err) // also cancels the reservation of a run that was cut off
		}
	}
	if err := r.ledger.Reserve(ctx, r.charge); err != nil {
		if debited == "" && !r.prepared || isEnded(err) {
			err = errors.Join(err, st.Erase())
		}
		return r.explainRefusal(err)
	}
	key, err := r.runKey(st, debited)
	if err != nil {
		return r.giveUp(st, err)
	}
	streams := noise.NewStreams(key, r.plan.Hash())
	key.Erase()
	defer streams.Erase()
	out, err := stage(r.options.Out, filepath.Base(r.place))
	if err == nil {
		defer out.discard()
		err = r.countDebitDraw(ctx, st, out, streams)
	}
	if err == nil {
		err = out.commit()
	}
	if err != nil {
		return r.giveUp(st, err)
	}
	r.options.logger().Info("measurements sealed", "folder", r.place)
	switch err := finishInLedger(ctx, r.ledger, r.charge, r.place); {
	case isEnded(err): // somebody gave up the release meanwhile: the draw is discarded
		return errors.Join(err, os.RemoveAll(r.place), durable.SyncDir(r.options.Out), st.Clear())
	case err != nil:
		return &Spent{Err: err}
	}
	err = errors.Join(st.Clear(), state.ClearSiblings(r.options.StateDir(), r.plan.Name))
	if r.prepared {
		err = errors.Join(err, r.options.removeShards(r.plan))
	}
	return err
}

// checkInputs returns an error unless the files to count exist, none of them is a public file of the plan, and the
// addresses of databases are there. It opens no file and leaves no entry in the ledger, so that a job may wait for a
// late file.
func (r *attempt) checkInputs() error {
	if r.options.FromShards != "" {
		return nil // they are on other machines
	}
	inputs, err := inputsOf(r.plan, r.options.Data)
	if err != nil {
		return err
	}
	if err := engine.Check(r.plan.Release(), r.options.Data, r.options.FromSpark); err != nil {
		return err
	}
	return refusePublicInputs(r.plan, r.options.Data, inputs)
}

// isEnded reports whether an error means that a debited release was finished, abandoned or withdrawn, so that its
// noise key is of no more use.
func isEnded(err error) bool {
	var closed *ledger.Closed
	return errors.As(err, &closed) && closed.State != ledger.Debited && closed.State != ""
}

// explainRefusal adds to a refusal what a person can do about it: by a practice account, and of a release that was
// measured, which folder is missing.
func (r *attempt) explainRefusal(err error) error {
	if closed := new(ledger.Closed); errors.As(err, &closed) {
		closed.Folder = filepath.Base(r.place)
	}
	if r.options.Ledger == "" && (verdict.Has[*ledger.Refused](err) || verdict.Has[*ledger.TermsMismatch](err) ||
		verdict.Has[*ledger.NameTaken](err)) {
		return &PracticeRefused{Ledger: account.Practice(r.options.StateDir()), Err: err}
	}
	return err
}

// runKey returns the noise key of the run. A key found in the state is reused only if the release was debited, which
// means that the ledger knows it, or if other machines count by it. Otherwise every run draws its own key before the
// debit, and keeps it unless the spec forbids resuming.
func (r *attempt) runKey(st *state.State, debited string) (noise.Key, error) {
	if debited == "" && !r.prepared {
		return st.NewKey(r.plan.Resume != spec.Never)
	}
	key, there, err := st.OldKey()
	if err == nil && !there && debited == "" {
		err = misplaced(r.plan, false)
	} else if err == nil && !there {
		return key, &ledger.Closed{Account: r.charge.Account, Release: r.plan.Name, Date: debited}
	}
	r.resumed = debited != "" // even if the key could not be read just now
	return key, err
}

// countDebitDraw counts, debits, draws, and writes the measurements into the staging folder.
func (r *attempt) countDebitDraw(ctx context.Context, st *state.State, out *staging, streams *noise.Streams) error {
	log := r.options.logger()
	if err := r.checkSpace(st, out); err != nil {
		return err
	}
	log.Info("counting", "release", r.plan.Name, "tables", len(r.plan.Tables))
	ctx = progress.BeginConfidential(ctx, 0, "counting %s", strings.Join(countedTables(r.plan), ", "))
	if !r.resumed { // what an earlier run stored was counted of other files, perhaps
		if err := st.RemoveAnswers(); err != nil {
			return err
		}
	}
	exact, note, err := r.countExact(ctx, st, streams)
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
	if r.resumed { // the debit succeeded, so these are the files that were paid for
		if err := note(ctx); err != nil {
			return err
		}
	}
	if r.masking != nil {
		if err := r.masking.bind(ctx, r.plan, r.charge.Commitment); err != nil {
			return err
		}
	}
	log.Info("budget debited", "account", r.charge.Account, "cost", r.charge.Cost.String())
	journal, err := r.runJournal(st)
	if err != nil {
		return err
	}
	defer journal.close()
	sealed, err := drawAll(ctx, r.plan, exact, receipt, streams, r.masking, journal)
	if err != nil {
		return err
	}
	if r.masking != nil {
		return r.masking.sealDrawn(ctx, out.Write, sealed)
	}
	return measured.Seal(out.Write, sealed)
}

// countExact counts the tables, and refuses a plan that publishes the content of a confidential file. The function
// note records which files were counted.
func (r *attempt) countExact(ctx context.Context, st *state.State, streams *noise.Streams) (exact *histogram.Exact,
	note func(context.Context) error, err error) {
	if r.resumed && r.keepsAnswers() && st.HasAnswers() { // nothing is read: which files were counted is noted already
		exact, err = histogram.Count(ctx, r.plan, r.counter(st, streams), streams)
		return exact, func(context.Context) error { return nil }, err
	}
	if r.prepared && !engine.HasSpark(r.plan.Release()) {
		return r.countShards(ctx, st, streams)
	}
	inputs, err := inputsOf(r.plan, r.options.Data)
	if err != nil {
		return nil, nil, err
	}
	if !r.resumed {
		if err := r.refuseCounted(); err != nil {
			return nil, nil, err
		}
	}
	reader, stop := context.WithCancel(ctx)
	defer stop()
	reading := startReading(reader, inputs)
	if exact, err = histogram.Count(ctx, r.plan, r.counter(st, streams), streams); err != nil {
		return nil, nil, err
	}
	read, err := reading.wait()
	if err != nil {
		return nil, nil, err
	}
	if !r.resumed {
		if err := refusePublicContents(r.plan, read); err != nil {
			return nil, nil, err
		}
	}
	return exact, r.noting(read), nil
}

// noting returns a function that records which files were counted.
func (r *attempt) noting(read []readInput) func(context.Context) error {
	return func(ctx context.Context) error {
		return noteSources(ctx, r.options.StateDir(), r.accounts, r.plan, read)
	}
}

// refuseCounted refuses a plan that publishes the content of a file that was counted for one of its accounts.
func (r *attempt) refuseCounted() error {
	counted, err := readSources(r.options.StateDir())
	if err != nil {
		return err
	}
	return counted.refuseCounted(r.plan, r.accounts)
}

// countShards is countExact from what other machines have counted.
func (r *attempt) countShards(ctx context.Context, st *state.State, streams *noise.Streams) (exact *histogram.Exact,
	note func(context.Context) error, err error) {
	division, err := preparedDivision(st)
	if err != nil {
		return nil, nil, err
	}
	shards, err := openShards(r.options.FromShards, r.plan, division, streams)
	if err != nil {
		return nil, nil, err
	}
	defer shards.close()
	if !r.resumed {
		if err := r.refuseCounted(); err != nil {
			return nil, nil, err
		}
		if err := refusePublicContents(r.plan, shards.inputs); err != nil {
			return nil, nil, err
		}
	}
	by := r.kept(st, streams, scan.Parts{All: shards.parts, Options: r.options.scanOptions()})
	exact, err = histogram.Count(ctx, r.plan, by, streams)
	if errors.Is(err, seal.ErrOpen) || errors.Is(err, scan.ErrPart) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = refuseShard(r.options.FromShards, "has a shard that cannot be read to its end: it was changed since it "+
			"was written; have it counted again")
	}
	return exact, r.noting(shards.inputs), err
}

// counter returns what counts the tables. The exact answers of tables in a database are kept: such a table may have
// changed when a run that was cut off after its debit resumes.
func (r *attempt) counter(st *state.State, streams *noise.Streams) histogram.Counter {
	return r.kept(st, streams, engine.Tables{Dir: r.options.Data, FromSpark: r.options.FromSpark,
		Options: r.options.scanOptions()})
}

// kept returns a counter that keeps what another one answers, where that may not be counted again. A run that resumes
// keeps nothing: what it counts may not be what was paid for.
func (r *attempt) kept(st *state.State, streams *noise.Streams, by histogram.Counter) histogram.Counter {
	if !r.keepsAnswers() {
		return by
	}
	kept := engine.Kept{By: by, Key: streams.Kept(), Load: st.LoadAnswers, Store: st.StoreAnswers}
	if r.resumed {
		kept.Store = nil
	}
	return kept
}

// keepsAnswers reports whether the run keeps exact answers on disk: where a table is in a database, or other machines
// count, and the noise key is kept.
func (r *attempt) keepsAnswers() bool {
	return (engine.HasDatabases(r.plan.Release()) || r.prepared) && r.plan.Resume != spec.Never
}

// countedTables returns the names of the confidential tables that a plan counts.
func countedTables(p *compiled.Compiled) []string {
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
	for _, m := range p.Models {
		if !slices.Contains(names, m.Table) {
			names = append(names, m.Table)
		}
	}
	return names
}

// runJournal returns the journal of the run's adaptive rounds. It is kept on disk exactly when the noise key is.
func (r *attempt) runJournal(st *state.State) (*journal, error) {
	if !r.keepsJournal() {
		return &journal{}, nil
	}
	j, err := openJournal(st.JournalPath(), r.plan.Hash(), r.charge.Commitment)
	if err != nil || r.masking == nil {
		return j, err
	}
	if err := j.checkLeft(r.masking.entry.Nonces != nil); err != nil {
		j.close()
		return nil, err
	}
	return j, nil
}

// keepsJournal reports whether the run keeps a journal of adaptive rounds on disk.
func (r *attempt) keepsJournal() bool {
	return r.plan.HasRounds() && r.plan.Resume != spec.Never
}

// journalBytes is the greatest length of an answer in a journal, with its separator.
const journalBytes = 21

// checkSpace checks that there is space for the measurements and for the journal.
func (r *attempt) checkSpace(st *state.State, out *staging) error {
	answers, files, err := roundAnswers(r.plan)
	if err != nil {
		return err
	}
	err = checkSpace(out.Dir, 8*(r.plan.Size.Cells+answers)+4096*(int64(len(r.plan.Measurements))+files))
	if err != nil || !r.keepsJournal() {
		return err
	}
	return checkSpace(st.Dir, journalBytes*answers+4096*files)
}

// roundAnswers returns an upper estimate of how many integers the rounds of the adaptive methods answer, and in how
// many files. (If the journal runs out of space in spite of it, the run stops, and resumes once there is space.)
func roundAnswers(p *compiled.Compiled) (answers, files int64, err error) {
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
	for _, m := range p.Models {
		n, err := p.Plan().ModelAnswers(m)
		if err != nil {
			return 0, 0, err
		}
		answers, files = answers+n, files+1+int64(m.RoundCount())
	}
	return answers, files, nil
}

// giveUp ends a run that failed. Before the debit nothing is spent and the key is not needed again. After it the key
// stays, so that a new run resumes. If another run debited the release with another key, the release is closed to this
// one.
func (r *attempt) giveUp(st *state.State, cause error) error {
	ctx := context.Background()
	if !r.paid && !r.prepared { // the debit may be on disk although its answer was lost: a debit cannot be cancelled
		if err := r.ledger.Cancel(ctx, r.charge); err != nil {
			// unknown whether there is a debit: the key stays, and the next run finds out
			return errors.Join(cause, err)
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
	case isEnded(cause):
		return errors.Join(cause, st.Erase())
	case errors.As(cause, &closed) && r.resumed:
		return &Spent{Err: &InputChanged{Release: r.plan.Name, Date: closed.Date}}
	case r.paid || r.resumed:
		return &Spent{Err: diagnostics.Write(st.Dir, cause), Lost: r.plan.Resume == spec.Never}
	}
	if r.prepared { // what other machines have counted stays good
		return diagnostics.Write(st.Dir, cause)
	}
	return errors.Join(diagnostics.Write(st.Dir, cause), st.Erase())
}

// drawAll opens the exact counts with the receipt of their debit and draws every measurement in the plan's order, and
// then the rounds of its adaptive methods, each through the journal. For a holder, it draws
// its share.
func drawAll(ctx context.Context, p *compiled.Compiled, exact *histogram.Exact, receipt ledger.Receipt,
	streams *noise.Streams, held *masking, j *journal) (*measured.Sealed, error) {
	opened, err := exact.Open(receipt, streams)
	if err != nil {
		return nil, err
	}
	s := &measured.Sealed{Plan: p, Status: published.StatusText(receipt.Status())}
	if s.Receipt, err = published.EncodeRecord(receipt.Record()); err != nil {
		return nil, err
	}
	measure := opened.Measure
	if held != nil {
		s.Share = held.share()
		measure = func(ctx context.Context, m plan.Measurement) (measured.Measured, error) {
			return opened.Share(ctx, m, held.masks)
		}
	}
	byID := map[string]measured.Measured{}
	drawing := progress.Begin(ctx, int64(len(p.Measurements)), "drawing the noise of %s",
		budget.Plural(int64(len(p.Measurements)), "measurement"))
	for _, m := range p.Measurements {
		answer, err := measure(drawing, m)
		if err != nil {
			return nil, fmt.Errorf("measurement %s: %w", m.ID, err)
		}
		progress.Add(drawing, 1)
		s.Measured = append(s.Measured, answer)
		byID[m.ID] = answer
	}
	if p.HasRounds() {
		drawn := s.Measured
		if held != nil { // they are masked, and no round depends on them
			drawn = nil
		}
		if err := j.recordDrawn(drawn); err != nil {
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
		ctx := beginRounds(ctx, method)
		rounds, err := synth.Adapt(ctx, p.Plan(), method, columns, reportRounds(j.oracle(p, i, oracle), method))
		if err != nil {
			return nil, fmt.Errorf("microdata of %s: %w", method.Table, err)
		}
		s.Rounds = append(s.Rounds, rounds)
	}
	for i, m := range p.Models {
		training, err := train(ctx, p, i, opened, j, held)
		if err != nil {
			return nil, fmt.Errorf("model %s: %w", m.Name, err)
		}
		training.Status = s.Status
		s.Training = append(s.Training, training)
	}
	return s, j.checkDone()
}
