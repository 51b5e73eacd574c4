// Package dprelease makes differentially private releases from a Go program: it plans a spec, measures the confidential
// tables once, publishes tables with error bars and a report, and verifies what was published.
//
// It owns the steps and their options, as the command dprelease takes them: what one of them promises, it promises
// here. A spec and its plan are those of packages spec and plan/compiled; what a published folder holds, package report
// says.
//
// It never changes what a plan allows: whoever may run a release may spend its budget once, and whoever runs it again
// finds the release that is there.
//
//	p, err := dprelease.Plan(ctx, "release.yaml", dprelease.Spec{})
//	…
//	o := dprelease.Options{Out: "out", Data: ".", Ledger: "ledger.db"}
//	measured, err := dprelease.Measure(ctx, p, o)
//	…
//	published, err := dprelease.Publish(ctx, measured.Folder, o)
package dprelease

import (
	"context"
	"log/slog"

	"github.com/dprelease/dprelease/budget/sign"
	"github.com/dprelease/dprelease/internal/ending"
	"github.com/dprelease/dprelease/internal/planfile"
	"github.com/dprelease/dprelease/internal/progress"
	"github.com/dprelease/dprelease/internal/release"
	"github.com/dprelease/dprelease/internal/verify"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/spec"
)

// Spec says how a spec is read.
type Spec struct {
	Params map[string]string // values of its parameters
	Public []string          // folders, in addition to the spec's own, in which its public files may lie
	Data   string            // the folder that relative paths of sources start from; empty: the spec's own
}

func (s Spec) at(path string) planfile.Spec {
	return planfile.Spec{Path: path, Params: s.Params, Public: s.Public, Data: s.Data}
}

// Load reads a spec and checks it. It reads public files that the spec names, and no data.
//
// A spec with mistakes is a *document.Errors of package spec/document, each with its line and what was expected.
func Load(ctx context.Context, path string, s Spec) (*spec.Release, error) {
	return planfile.LoadSpec(ctx, s.at(path))
}

// Plan reads a spec as [Load] does and decides how its budget is spent: which questions are asked, with which noise, and
// how good the tables will be. It reads no data and writes nothing.
func Plan(ctx context.Context, path string, s Spec) (*compiled.Compiled, error) {
	return planfile.Load(ctx, s.at(path))
}

// Options say where a step works. The zero value works in the current folder, on a practice account.
type Options struct {
	Out       string // folder that every output is written below
	Data      string // folder that relative paths of sources start from
	Ledger    string // the ledger, a file or postgres://…; empty: a practice account in the state directory
	State     string // confidential state directory; empty: .dprelease below Out
	Approvals string // folder in which approvals of plans lie; empty: none
	OfficeKey string // file of the private key that signs the ledger's entries and the manifest; empty: nothing is signed
	Trust     string // file of the public key that must have signed the ledger; empty: anybody's is read
	Today     string // a day that a person vouches has come, for an entry long after the last one; empty: none
	Memory    int64  // bytes that counting may take; 0: half of what the machine has
	Log       *slog.Logger

	// Of [Publish]: which publication of the measurements it makes, 0 and 1 being the first, and why it replaces the one
	// before; how many rows of microdata, as N or TABLE=N, and by which method, as METHOD or TABLE=METHOD, where they are
	// not those of the plan.
	Revision      int
	Reason        string
	Rows, Methods []string

	// Progress, where not nil, is told how far reading and writing are. It depends on the data: it may be shown to who
	// runs the release, and must not be written anywhere.
	Progress func(Progress)
	// Step, where not nil, is told when a step begins: a function of the plan alone.
	Step func(text string)
}

// Progress is how far a step is.
type Progress struct {
	Table             string // that is read, or what is written
	Writing           bool
	Part, Parts       int // which of how many files is written, where they are several
	Reading, Readings int // which reading of the table, of how many
	Round, Rounds     int // which round of adaptive microdata, of at most how many
	Rows, All         int64
}

func (o Options) internal() (release.Options, error) {
	out := release.Options{Out: o.Out, Data: o.Data, Ledger: o.Ledger, State: o.State, Approvals: o.Approvals,
		Trust: o.Trust, Today: o.Today, Memory: o.Memory, Log: o.Log, Step: o.Step,
		Revision: release.Revision{Number: o.Revision, Reason: o.Reason}, Rows: o.Rows, Methods: o.Methods}
	if o.Progress != nil {
		out.Progress = func(p progress.Progress) { o.Progress(Progress(p)) }
	}
	if o.OfficeKey == "" {
		return out, nil
	}
	key, err := sign.ReadKey(o.OfficeKey)
	out.Office = &key
	return out, err
}

// Result is what a step leaves.
type Result struct {
	Folder  string // of the sealed measurements, or the published one
	Status  string // RELEASE, or what is printed on everything in its place
	Already bool   // it was there before, from the same plan
	// InputsChanged is the day on which the files of a release that was there before were counted, where they are others
	// now; empty where they are the same or nothing is known of them.
	InputsChanged string
	// Signature says what came of the signature of a published folder: none, made, added, replaced, there before; empty
	// of measurements.
	Signature string
}

// step runs a step with the options as it takes them.
func (o Options) step(run func(release.Options) (release.Result, error)) (Result, error) {
	in, err := o.internal()
	if err != nil {
		return Result{}, err
	}
	r, err := run(in)
	return Result{Folder: r.Place, Status: r.Status, Already: r.Already, InputsChanged: r.InputsChanged,
		Signature: string(r.Signature)}, err
}

// Measure reads the confidential tables once, debits the account, draws the noise and seals the noisy integers in
// Out/NAME.measured. Where that folder holds the measurements of this plan already, nothing is read or spent.
//
// Guarantee: the account is debited, durably, before the first draw. A run that fails before its debit leaves nothing
// spent; one that is cut off after it resumes, when it is called again, to the same noise at no further cost.
func Measure(ctx context.Context, p *compiled.Compiled, o Options) (Result, error) {
	return o.step(func(in release.Options) (release.Result, error) { return release.Measure(ctx, p, in) })
}

// Publish derives tables, microdata and the report from sealed measurements, in Out/NAME. It costs nothing and may be
// repeated: the same bytes come out.
func Publish(ctx context.Context, measured string, o Options) (Result, error) {
	return o.step(func(in release.Options) (release.Result, error) { return release.Publish(ctx, measured, in) })
}

// Run measures and publishes. A release that is there already, from the same plan, is success; one from another plan is
// refused before anything is read or spent.
func Run(ctx context.Context, p *compiled.Compiled, o Options) (Result, error) {
	return o.step(func(in release.Options) (release.Result, error) { return release.Run(ctx, p, in) })
}

// Evidence is what a published folder is compared with, in addition to itself.
type Evidence struct {
	Trust  string // file of the office's public key; empty: none is known
	Export string // file of an export of the office's ledger; empty: none is at hand
}

// Verification is what came of the checks of a published folder.
type Verification struct {
	Release string
	Outcome string // verifies, consistent (in itself), withdrawn (by the office), fails
	Says    string // the outcome in words
	Checks  []Check
}

// Check is one of them.
type Check struct {
	Name  string
	State string // passed, failed, not done
	File  string // that failed
	Says  string
}

// Verify checks a published folder without the data and without trust in whoever wrote it: that everything in it follows
// from its plan and its measurements, that the privacy loss is the one promised, and that a ledger was debited for it.
// The verification is there also where the folder fails, which is an error.
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

// Why says of an error of a step what a program can act on: a stable word, such as budget-exceeded, and whether the same
// call may succeed again: safe (at once), later, never (before a person has changed something).
func Why(err error) (reason, retry string) {
	of := ending.Of(err)
	return string(of.Reason), string(of.Retry)
}
