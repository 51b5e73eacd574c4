// Package evaluate compares a published release with the truth, for those who hold it. Its results are confidential
// and belong to no release. It never writes into a release, prints no figure, and compares nothing before the
// comparison is noted on every account that the release was charged to.
package evaluate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"

	"github.com/dprelease/dprelease/budget/ledger"
	"github.com/dprelease/dprelease/histogram/engine"
	"github.com/dprelease/dprelease/histogram/evaluate"
	"github.com/dprelease/dprelease/histogram/scan"
	"github.com/dprelease/dprelease/histogram/source"
	"github.com/dprelease/dprelease/internal/account"
	"github.com/dprelease/dprelease/internal/canonical"
	"github.com/dprelease/dprelease/internal/diagnostics"
	"github.com/dprelease/dprelease/internal/durable"
	"github.com/dprelease/dprelease/internal/memory"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/internal/progress"
	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/internal/verdict"
	"github.com/dprelease/dprelease/plan/compiled"
)

// Options configure an evaluation.
type Options struct {
	Out     string         // folder of the evaluation
	Data    string         // base folder of relative source paths
	State   string         // confidential state directory; empty: .dprelease in the folder of the release
	Account account.Ledger // the configured ledger; without a path the practice ledger in the state directory
	Log     *slog.Logger   // nil: nothing is logged
	// Predict has, as [TABLE=]COLUMN or [TABLE=]COLUMN=CATEGORY, columns of microdata: it is tested how well each is
	// predicted in the true rows by what the microdata say.
	Predict []string
}

// The files of an evaluation, in a folder that its owner alone can enter.
const (
	EvaluationJSON = "evaluate.json"
	EvaluationPage = "evaluate.md"
)

// comparisonReason is the reason that the ledger records for an evaluation.
const comparisonReason = "dprelease evaluate: what was published is compared with the confidential data."

// Evaluate compares the release in the folder place, published from the plan p, with the truth, counted anew from the
// tables below o.Data, and writes the result to o.Out. It returns the absolute path of that folder without links, the
// only path by which the folder was checked and written to, and "" if there is none.
//
// Contract: the account that paid, and every other account that the release was charged to, hold a note of the
// comparison, durably, before any data is read: a run that is cut off after that leaves the note and no figure. What
// cannot be compared is refused before the note. No result is returned, printed or logged.
//
// Errors: *[verdict.Unusable] if place is no release of the plan, o.Out is not separate from every release, o.Predict
// asks for what the microdata do not have, or the ledger does not know the release; *[published.Altered]; *[Evaluated]
// if o.Out holds an evaluation; *source.Error; *scan.ContractError. An error after the note is a *[Noted].
func Evaluate(ctx context.Context, p *compiled.Compiled, place string, o Options) (string, error) {
	if p.Release().Collection != nil {
		return "", &verdict.Unusable{File: place,
			Err: errors.New("its answers were randomised on the respondents' devices: nobody has the truth to " +
				"compare it with")}
	}
	out, err := resolvePath(o.Out)
	if err != nil {
		return "", &verdict.Unusable{File: o.Out, Err: err}
	}
	o.Out = out
	return out, evaluator{o}.evaluate(ctx, p, place)
}

// evaluator compares a release with the truth and writes to a folder whose path is resolved.
type evaluator struct{ Options }

// logger returns the logger, or one that discards.
func (o evaluator) logger() *slog.Logger {
	return cmp.Or(o.Log, slog.New(slog.DiscardHandler))
}

// evaluate does what [Evaluate] does.
func (o evaluator) evaluate(ctx context.Context, p *compiled.Compiled, place string) error {
	if o.State == "" {
		// where the run that made the release had its state
		o.State = filepath.Join(filepath.Dir(filepath.Clean(place)), ".dprelease")
	}
	e, err := openEvaluable(place, p)
	if err != nil {
		return err
	}
	if err := o.checkFolder(); err != nil {
		return err
	}
	if err := o.checkUnused(); err != nil {
		return err
	}
	if err := o.checkSources(ctx, p); err != nil {
		return err
	}
	if err := memory.Check(memory.Bytes(p.Plan()), memory.Available(0)); err != nil {
		return err
	}
	claims, products, err := publishedResults(e)
	if err != nil {
		return err
	}
	var predictions []predictionClaim
	if claims.Predictions, predictions, err = predictionsOf(e, claims.Rows, o.Predict); err != nil {
		return err
	}
	record := e.Record
	l, err := o.openLedger(ctx, place, record)
	if err != nil {
		return err
	}
	defer l.Close()
	note, err := o.noteInLedger(ctx, l, record)
	if err != nil {
		return err
	}
	o.logger().Info("comparison noted in the ledger", "account", record.Account)
	differences, err := o.compareTruth(ctx, note, e.Plan, claims)
	if err == nil {
		err = o.writeFiles(newEvaluation(e, note.Number(), differences, products, predictions))
	}
	if err != nil {
		return &Noted{Err: err}
	}
	return nil
}

// compareTruth compares the claims with the truth. If data break their contract, the details are written to the folder
// of the evaluation.
func (o evaluator) compareTruth(ctx context.Context, note ledger.Comparison, p *compiled.Compiled,
	claims evaluate.PublishedResults) (*evaluate.Differences, error) {
	ctx = progress.BeginConfidential(ctx, 0, "comparing the release with the confidential data")
	key, err := noise.NewKey()
	if err != nil {
		return nil, err
	}
	opened, err := engine.Open(ctx, p.Plan(), o.Data)
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	streams := noise.NewStreams(key, p.Hash())
	key.Erase()
	defer streams.Erase()
	differences, err := evaluate.Compare(ctx, note, p, opened.Files(o.Data, scan.Options{}), streams.Rows(), claims)
	if err == nil {
		return differences, nil
	}
	if moved := o.checkFolder(); moved != nil {
		return nil, errors.Join(err, moved)
	}
	return nil, diagnostics.Write(o.Out, err)
}

// writeFiles writes the files of an evaluation. It first removes the details of data that an earlier run refused.
func (o evaluator) writeFiles(v Evaluation) error {
	b, err := canonical.Indented(v)
	if err != nil {
		return err
	}
	if err := o.checkFolder(); err != nil {
		return err
	}
	if err := diagnostics.Remove(o.Out); err != nil {
		return fmt.Errorf("folder of the evaluation: %w", err)
	}
	if err := writeEvaluation(o.Out, EvaluationJSON, b); err != nil {
		return err
	}
	if err := o.checkFolder(); err != nil {
		return err
	}
	return writeEvaluation(o.Out, EvaluationPage, v.markdown())
}

// Noted is an error after the note of a comparison, which stays.
type Noted struct{ Err error }

func (e *Noted) Error() string {
	return e.Err.Error() + "\nThe comparison is noted in the ledger and counts, though the evaluation is not " +
		"complete: running this again is another comparison"
}
func (e *Noted) Unwrap() error { return e.Err }

// Evaluated reports an output folder that already holds an evaluation.
type Evaluated struct{ Folder string }

func (e *Evaluated) Error() string {
	return e.Folder + " holds an evaluation already; nothing was changed and nothing noted: choose another -o folder"
}

// Verdict returns that the folder has to be cleared.
func (*Evaluated) Verdict() verdict.Verdict {
	return verdict.Verdict{Exit: verdict.ExitName, Reason: verdict.OutputTaken, Retry: verdict.Never}
}

// openEvaluable opens a release to be evaluated: unaltered, of this plan, and not a rehearsal.
func openEvaluable(place string, p *compiled.Compiled) (*published.Release, error) {
	e, err := published.Open(place)
	if err != nil {
		return nil, err
	}
	if e.Plan.Hash() != p.Hash() {
		return nil, &verdict.Unusable{File: place,
			Err: fmt.Errorf("is a release of another plan (%.12s) than this spec leads to (%.12s): give the spec and "+
				"the parameters that it was made from", e.Plan.Hash(), p.Hash())}
	}
	if err := isComparable(p.Sample); err != nil {
		return nil, &verdict.Unusable{File: place, Err: err}
	}
	if e.Record.Status == ledger.Rehearsal {
		return nil, &verdict.Unusable{File: place,
			Err: errors.New("is a rehearsal: its rows were made up, and there is no truth to compare it with")}
	}
	return e, nil
}

// checkFolder refuses an output folder in which an evaluation could be taken for a part of a release: one that is a
// release or a sealed folder or lies below one, or that others can enter. The folder's path is resolved; if it now
// leads elsewhere, a folder on the way was replaced by a link since then. Files are written to the folder only right
// after this check.
func (o evaluator) checkFolder() error {
	refuse := func(err error) error { return &verdict.Unusable{File: o.Out, Err: err} }
	now, err := resolvePath(o.Out)
	if err != nil {
		return refuse(err)
	}
	if now != o.Out {
		return refuse(fmt.Errorf(
			"leads to %s now: a folder on the way was replaced while this ran, so nothing is written there; give a "+
				"folder that nobody moves", now))
	}
	for at := o.Out; ; at = filepath.Dir(at) {
		if info, err := os.Stat(at); err == nil && !info.IsDir() {
			return refuse(fmt.Errorf("%s is not a folder", at))
		}
		for _, name := range []string{published.ManifestFile, "seal.json"} {
			if found, err := durable.Exists(filepath.Join(at, name)); err != nil {
				return refuse(err)
			} else if found {
				return refuse(fmt.Errorf(
					"lies in a release or a sealed folder (%s is in %s): an evaluation is confidential, give a "+
						"folder of its own",
					name, at))
			}
		}
		if at == filepath.Dir(at) {
			break
		}
	}
	found, err := durable.Exists(o.Out)
	if err == nil && found {
		err = durable.Private(o.Out)
	}
	if err != nil {
		return refuse(err)
	}
	return nil
}

// checkUnused refuses an output folder that holds an evaluation.
func (o evaluator) checkUnused() error {
	for _, name := range []string{EvaluationJSON, EvaluationPage} {
		if found, err := durable.Exists(filepath.Join(o.Out, name)); err != nil || found {
			return errors.Join(err, &Evaluated{Folder: o.Out})
		}
	}
	return nil
}

// checkSources opens the files of the tables, and reads no row of them.
func (o evaluator) checkSources(ctx context.Context, p *compiled.Compiled) error {
	if info, err := os.Stat(o.Data); err != nil || !info.IsDir() {
		return &verdict.Unusable{File: o.Data,
			Err: errors.New("is not a folder: say with --data where the paths of the sources start")}
	}
	for _, t := range p.Release().Tables {
		if t.Source.Database != nil {
			continue
		}
		rows, err := source.Open(ctx, source.Data{Dir: o.Data}, t, nil)
		if err == nil {
			err = rows.Close()
		}
		if err != nil {
			return err
		}
	}
	return engine.Check(p.Release(), o.Data, "")
}

// openLedger opens the ledger that paid for a release: the configured one or, for practice, the ledger in the state
// directory. The ledger must hold the debit.
func (o evaluator) openLedger(ctx context.Context, place string, record ledger.Record) (*ledger.Ledger, error) {
	refuse := func(format string, args ...any) error {
		return &verdict.Unusable{File: place, Err: fmt.Errorf(format, args...)}
	}
	var l *ledger.Ledger
	var err error
	switch {
	case record.Status == ledger.Practice && o.Account.Path != "":
		return nil, refuse("was drawn on a practice account, which the configured ledger does not keep: evaluate it " +
			"without --ledger and DPRELEASE_LEDGER")
	case o.Account.Path != "":
		l, err = o.Account.Open(ctx)
	case record.Status == ledger.Official:
		return nil, refuse("was paid for from account %s: name its ledger (--ledger FILE), where the comparison is noted",
			record.Account)
	default:
		l, err = account.OpenPractice(ctx, o.State)
	}
	if err != nil {
		return nil, err
	}
	err = l.Contains(ctx, record)
	if notHeld := new(ledger.NotHeld); errors.As(err, &notHeld) {
		err = refuse("its debit (entry %.12s of account %s) is not in the ledger, which is an older copy or another "+
			"one: nothing can be noted for it, and nothing was compared", record.Proof.Hash, record.Account)
	}
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// noteInLedger makes the folder of the evaluation, checks it, and notes the comparison. If the note fails it removes
// the folder, unless that existed before.
func (o evaluator) noteInLedger(ctx context.Context, l *ledger.Ledger, record ledger.Record) (ledger.Comparison,
	error) {
	there, err := durable.Exists(o.Out)
	if err == nil {
		err = durable.MakeFolder(o.Out, 0o700)
	}
	if err != nil {
		return ledger.Comparison{}, fmt.Errorf("folder of the evaluation: %w", err)
	}
	var note ledger.Comparison
	if err = o.checkFolder(); err == nil {
		note, err = noteComparison(ctx, l, record)
	}
	if err != nil && !there {
		err = errors.Join(err, os.Remove(o.Out))
	}
	return note, err
}

// noteComparison notes the comparison on every account that the release was charged to, and returns the note on the
// account that paid, which is the last.
func noteComparison(ctx context.Context, l *ledger.Ledger, record ledger.Record) (ledger.Comparison, error) {
	var note ledger.Comparison
	for i, account := range append(slices.Clone(record.FurtherAccounts), record.Account) {
		var err error
		if note, err = l.Compared(ctx, account, record.Release, comparisonReason); err != nil {
			if i > 0 {
				err = &Noted{Err: err} // there is a note on the earlier accounts
			}
			return ledger.Comparison{}, err
		}
	}
	return note, nil
}

// writeEvaluation writes a file of an evaluation that only its owner can read.
func writeEvaluation(dir, name string, b []byte) error {
	err := durable.WritePrivate(dir, "."+name+".tmp-", name, func(w io.Writer) error {
		_, err := w.Write(b)
		return err
	})
	if err != nil {
		return fmt.Errorf("folder of the evaluation: %w", err)
	}
	return nil
}
