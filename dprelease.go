// Package dprelease makes differentially private releases from a Go program: it plans a spec, measures the
// confidential tables once, publishes tables with error bars and a report, and verifies what was published.
//
// It owns the steps and their options, with the guarantees of the command dprelease. Packages spec and plan/compiled
// hold specs and plans; package report describes the contents of a published folder.
//
// It never changes what a plan allows: whoever may run a release may spend its budget once, and running it again finds
// the existing release.
//
//	p, err := dprelease.Plan(ctx, "release.yaml", dprelease.Spec{})
//	…
//	o := dprelease.Options{Out: "out", Data: ".", Ledger: "ledger.db"}
//	measured, err := dprelease.Measure(ctx, p, o)
//	…
//	published, err := dprelease.Publish(ctx, measured.Folder, o)
//
// Noise is drawn by package histogram, after package internal/release has debited the ledger; package synth makes
// estimates and intervals. CONTRIBUTING.md names the functions.
package dprelease

import (
	"context"
	"log/slog"

	"github.com/dprelease/dprelease/budget/sign"
	"github.com/dprelease/dprelease/histogram/holder"
	"github.com/dprelease/dprelease/internal/ending"
	"github.com/dprelease/dprelease/internal/planfile"
	"github.com/dprelease/dprelease/internal/progress"
	"github.com/dprelease/dprelease/internal/release"
	"github.com/dprelease/dprelease/internal/verify"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/spec"
)

// Spec holds the options for reading a spec.
type Spec struct {
	Params map[string]string // values of the spec's parameters
	Public []string          // folders for the spec's public files, in addition to the spec's own
	Data   string            // base folder of relative source paths; empty: the spec's own
}

func (s Spec) planfileSpec(path string) planfile.Spec {
	return planfile.Spec{Path: path, Params: s.Params, Public: s.Public, Data: s.Data}
}

// Load reads a spec and checks it. It reads public files that the spec names, and no data.
//
// A spec with mistakes is a *document.Errors of package spec/document, each with its line and what was expected.
func Load(ctx context.Context, path string, s Spec) (*spec.Release, error) {
	return planfile.LoadSpec(ctx, s.planfileSpec(path))
}

// Plan reads a spec as [Load] does and decides how its budget is spent: which questions are asked, with which noise,
// and how good the tables will be. It reads no data and writes nothing.
func Plan(ctx context.Context, path string, s Spec) (*compiled.Compiled, error) {
	return planfile.Load(ctx, s.planfileSpec(path))
}

// Options configure a step. The zero value works in the current folder, on a practice account.
type Options struct {
	Out       string // folder for all outputs
	Data      string // base folder of relative source paths
	Ledger    string // the ledger, a file or postgres://…; empty: a practice account in the state directory
	State     string // confidential state directory; empty: .dprelease below Out
	Approvals string // folder with approvals of plans; empty: none
	// file of the private key that signs the ledger's entries and the manifest; empty: nothing is signed
	OfficeKey string
	Trust     string // file of the public key that must have signed the ledger; empty: anybody's is read
	Today     string // today's date as a person confirms it, for an entry long after the last one; empty: none
	Memory    int64  // bytes that counting may use; 0: half of the machine's memory
	Log       *slog.Logger

	// For [Measure]: the folder with what other machines have counted of a plan that was prepared for them
	// (dprelease prepare, dprelease count); empty: the tables are counted here.
	FromShards string
	// For [Measure]: the folder of the job by which Spark has counted a plan that was prepared for it (dprelease count
	// --emit); empty if no table of the plan is in Spark.
	FromSpark string

	// For [Measure], if several holders make the release together: which of them measures, the file of its private key,
	// the folder with the signatures of all of them under the roll (dprelease holder sign), and, if the plan has
	// additive models, the folder in which they give each other their answers to each round.
	Holder    string
	HolderKey string
	Roll      string
	Rounds    string

	// For [Publish]: the number of the publication of the measurements, 0 and 1 being the first, and the reason why it
	// replaces the one before; a file of words, NAME.words.json, to use instead of the sealed ones; the rows of
	// microdata, as N or TABLE=N, and the method, as METHOD or TABLE=METHOD, if they are not the plan's.
	Revision      int
	Reason        string
	Words         string
	Rows, Methods []string
}

// Progress is how far a call has come in its current step.
type Progress struct {
	Number int    // of the step, from 1
	Step   string // in words, which follow from the plan and from the paths of the call alone
	Known  bool   // whether the share is known
	Share  int    // of the step that is done, in thousandths; it never falls within a step
	// Confidential reports that the step reads confidential data. Its share, how long it takes and when it ends depend
	// on them: these may be shown to the person who runs the release, and must not be written anywhere.
	Confidential bool
}

// WithProgress returns a context with which the steps of a release report how far they have come. Calls of show do not
// overlap, and it must return quickly. Reports change nothing of what a step computes or writes.
func WithProgress(ctx context.Context, show func(Progress)) context.Context {
	return progress.Watch(ctx, func(p progress.Progress) { show(Progress(p)) })
}

func (o Options) releaseOptions() (release.Options, error) {
	out := release.Options{Out: o.Out, Data: o.Data, Ledger: o.Ledger, State: o.State, Approvals: o.Approvals,
		Trust: o.Trust, Today: o.Today, Memory: o.Memory, Log: o.Log, FromShards: o.FromShards, FromSpark: o.FromSpark,
		Revision: release.Revision{Number: o.Revision, Reason: o.Reason}, Words: o.Words, Rows: o.Rows,
		Methods: o.Methods}
	if o.Holder != "" {
		key, err := holder.ReadKey(o.HolderKey)
		if err != nil {
			return out, err
		}
		out.Holder = &release.Holder{Name: o.Holder, Key: key, KeyFile: o.HolderKey, Roll: o.Roll,
			Rounds: o.Rounds}
	}
	if o.OfficeKey == "" {
		return out, nil
	}
	key, err := sign.ReadKey(o.OfficeKey)
	out.Office = &key
	return out, err
}

// Result describes what a step has left.
type Result struct {
	Folder      string // of the sealed measurements, or the published folder
	Status      string // RELEASE, or the mark that is printed on everything instead
	AlreadyDone bool   // the folder existed before, from the same plan
	// InputsChanged is the day on which the files of an existing release were counted, if they have changed since;
	// empty if they are the same or nothing is known about them.
	InputsChanged string
	// Signature is the outcome for the signature of a published folder: none, made, added, replaced, there before;
	// empty for measurements.
	Signature string
}

// runStep runs a step of package release with the options and converts its result.
func (o Options) runStep(run func(release.Options) (release.Result, error)) (Result, error) {
	in, err := o.releaseOptions()
	if err != nil {
		return Result{}, err
	}
	r, err := run(in)
	return Result{Folder: r.Folder, Status: r.Status, AlreadyDone: r.AlreadyDone, InputsChanged: r.InputsChanged,
		Signature: string(r.Signature)}, err
}

// Measure reads the confidential tables once, debits the account, draws the noise and seals the noisy integers in
// Out/NAME.measured. If that folder already holds the measurements of this plan, nothing is read or spent. For one of
// several holders it seals that holder's share of them, in Out/NAME.HOLDER.share.
//
// Guarantee: the account is debited, durably, before the first draw. A run that fails before its debit leaves nothing
// spent; one that is cut off after it resumes, when it is called again, to the same noise at no further cost.
func Measure(ctx context.Context, p *compiled.Compiled, o Options) (Result, error) {
	return o.runStep(func(in release.Options) (release.Result, error) { return release.Measure(ctx, p, in) })
}

// Combine adds the shares of all holders of a release and seals the sum in Out/NAME.measured. It costs nothing and may
// be repeated: it gives the same bytes.
func Combine(ctx context.Context, shares []string, o Options) (Result, error) {
	return o.runStep(func(in release.Options) (release.Result, error) { return release.Combine(ctx, shares, in) })
}

// Publish derives tables, microdata and the report from sealed measurements, in Out/NAME. It costs nothing and may be
// repeated: it gives the same bytes.
func Publish(ctx context.Context, measured string, o Options) (Result, error) {
	return o.runStep(func(in release.Options) (release.Result, error) { return release.Publish(ctx, measured, in) })
}

// Run measures and publishes. An existing release of the same plan is success; one of another plan is refused before
// anything is read or spent.
func Run(ctx context.Context, p *compiled.Compiled, o Options) (Result, error) {
	return o.runStep(func(in release.Options) (release.Result, error) { return release.Run(ctx, p, in) })
}

// Evidence is what a published folder is compared with, in addition to itself.
type Evidence struct {
	Trust  string // file of the office's public key; empty: none is known
	Export string // file of an export of the office's ledger; empty: none
}

// Verification is the result of checking a published folder.
type Verification struct {
	Release string
	Outcome string // verifies, consistent (in itself), withdrawn (by the office), fails
	Says    string // the outcome in words
	Checks  []Check
}

// Check is one check of a published folder.
type Check struct {
	Name  string
	State string // passed, failed, not done
	File  string // at fault
	Says  string
}

// Verify checks a published folder without the data and without trust in whoever wrote it: that everything in it
// follows from its plan and its measurements, that the privacy loss is the one promised, and that a ledger was debited
// for it. If the folder fails, Verify returns the verification together with an error.
func Verify(ctx context.Context, folder string, e Evidence) (*Verification, error) {
	v, err := verify.Folder(ctx, folder, verify.Options{Trust: e.Trust, Export: e.Export})
	if v == nil {
		return nil, err
	}
	out := &Verification{Release: v.Release, Outcome: string(v.Outcome), Says: v.Says}
	for _, c := range v.Checks {
		out.Checks = append(out.Checks, Check{Name: c.Name, State: string(c.State), File: c.File, Says: c.Says})
	}
	return out, err
}

// Why returns what a program can act on in an error of a step: a stable word, such as budget-exceeded, and whether the
// same call may succeed again: safe (at once), later, never (before a person has changed something).
func Why(err error) (reason, retry string) {
	of := ending.Of(err)
	return string(of.Reason), string(of.Retry)
}
