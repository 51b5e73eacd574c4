// Package verify checks published folders without the data and without trust in whoever wrote them: one, or many
// against an export of the ledger. It plans and derives everything again, reads no confidential byte and writes
// nothing.
package verify

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/budget/ledger"
	"github.com/dprelease/dprelease/budget/sign"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/internal/regular"
	"github.com/dprelease/dprelease/internal/screen"
	"github.com/dprelease/dprelease/internal/verdict"
	"github.com/dprelease/dprelease/plan/compiled"
)

// Options say what a published folder is held against beside itself.
type Options struct {
	Trust  string // file of the office's public key; empty: none is known
	Export string // file of an export of the office's ledger; empty: none is at hand
}

// Verification is what came of checking a published folder.
type Verification struct {
	Folder   string  `json:"folder"`
	Release  string  `json:"release,omitempty"`
	Marked   string  `json:"marked,omitempty"` // RELEASE, or what is printed on everything instead
	Revision int     `json:"revision,omitempty"`
	Checks   []Check `json:"checks"`
	// Recomputed is what was worked out here, Signed what rests on keys that a reader
	// compares, Unchecked what nobody can tell from the folder.
	Recomputed []string `json:"recomputed_here"`
	Signed     []string `json:"signed"`
	Unchecked  []string `json:"cannot_be_checked_from_here"`
	// NotEstablished is what the folder claims and nothing here shows, of a release that is consistent in itself.
	NotEstablished []string    `json:"not_established,omitempty"`
	Withdrawn      *Withdrawal `json:"withdrawn,omitempty"` // by the office, as the export of its ledger says
	Outcome        Outcome     `json:"outcome"`             // of all checks
	Says           string      `json:"says"`                // the outcome in words, which come last
}

// Withdrawal is the office's mark on a release that is not to be used any more.
type Withdrawal struct {
	Date   string `json:"date"` // YYYY-MM-DD, UTC
	Reason string `json:"reason"`
}

// Outcome is what came of a verification.
type Outcome string

// What can come of a verification.
const (
	Verifies      Outcome = "verifies"
	Consistent    Outcome = "consistent" // in itself: see what is not established
	WithdrawnByIt Outcome = "withdrawn"  // by the office: it is as it was published, and not to be used
	DoesNotVerify Outcome = "fails"
)

// Withdrawn is a release that verifies and that the office has withdrawn, or several.
type Withdrawn struct{ Folders []string }

func (e *Withdrawn) Error() string {
	if len(e.Folders) == 1 {
		return screen.Quoted(e.Folders[0]) + " is withdrawn by the office: do not use it"
	}
	return quotedList(e.Folders) + " are withdrawn by the office: do not use them"
}

// Verdict says that the folder is not to be used, though it is as it was published.
func (*Withdrawn) Verdict() verdict.Verdict {
	return verdict.Verdict{Exit: verdict.ExitWithdrawn, Reason: verdict.ReleaseWithdrawn, Retry: verdict.Never}
}

// Check is one line of a verification.
type Check struct {
	Name  string     `json:"check"`
	State CheckState `json:"state"`
	File  string     `json:"file,omitempty"` // that failed
	Says  string     `json:"says"`
}

// CheckState is what came of a check.
type CheckState string

// What can come of a check.
const (
	Passed  CheckState = "passed"
	Failed  CheckState = "failed"
	NotDone CheckState = "not done" // what it needs is not there, or is not as it was
)

// Unverified is a published folder that is not what it says it is, with the file of
// the first check that failed, or of which a check that it needs was not done: then
// there is no file.
type Unverified struct {
	Folder, Check, File, Says string
	More                      int // checks that failed after it
}

func (e *Unverified) Error() string {
	if e.File == "" {
		return fmt.Sprintf("%s is not verified, as the check %s was not done: %s", screen.Quoted(e.Folder), e.Check, e.Says)
	}
	text := fmt.Sprintf("%s does not verify: %s: %s", screen.Quoted(e.Folder), screen.Quoted(e.File), e.Says)
	if e.More == 1 {
		text += " (and 1 more check fails)"
	} else if e.More > 1 {
		text += fmt.Sprintf(" (and %d more checks fail)", e.More)
	}
	return text
}

// Verdict says that the folder is not to be used.
func (*Unverified) Verdict() verdict.Verdict {
	return verdict.Verdict{Exit: verdict.ExitVerify, Reason: verdict.NotVerified, Retry: verdict.Never}
}

// notDone ends a check that cannot be done.
type notDone struct{ why string }

func (e *notDone) Error() string { return e.why }

// evidence is what folders are held against, read once for however many.
type evidence struct {
	options Options
	trust   sign.PublicKey // none: no key is trusted
	export  *ledger.Export // nil: none is at hand, or it is altered
	altered error          // what is wrong with the export, of one that was altered
}

// read reads the key and the export. Errors: *[verdict.Unusable].
func (o Options) read() (evidence, error) {
	e := evidence{options: o}
	var err error
	if o.Trust != "" {
		if e.trust, err = sign.ReadPublicKey(o.Trust); err != nil {
			return e, &verdict.Unusable{File: o.Trust, Err: err}
		}
	}
	if o.Export == "" {
		return e, nil
	}
	f, err := regular.Open(o.Export)
	if err != nil {
		return e, &verdict.Unusable{File: o.Export, Err: err}
	}
	defer f.Close()
	e.export, err = ledger.ReadExport(f)
	switch {
	case errors.Is(err, ledger.ErrTampered):
		e.altered = err
	case err != nil:
		return e, &verdict.Unusable{File: o.Export, Err: err}
	}
	return e, nil
}

// verifier holds a published folder against itself.
type verifier struct {
	place string // the folder, links resolved
	evidence
	out *Verification

	manifest published.Manifest
	text     []byte          // of the manifest
	signer   sign.PublicKey  // of the manifest; none: nobody
	damaged  map[string]bool // files that are not those of the manifest
	plan     *compiled.Compiled
	planned  bool             // the plan is what its spec leads to
	sealed   *measured.Sealed // plan, receipt and measurements, as they were before they were published
	record   *ledger.Record
}

// Folder checks a published folder without confidential data and without trust in
// whoever wrote it: that it is whole, that everything in it follows from its plan
// and its measurements, that the privacy loss is the one promised, and that a
// ledger was debited for it. A release, a practice run, a rehearsal and a revision
// are checked alike.
//
// Contract: where it returns no error, tables, microdata, report and pages are what
// this program derives from the measurements in the folder, these have the shapes and
// mechanisms of the plan and the rounds that it allows, the plan is the one that its spec leads to, and the loss
// of its mechanisms is within its guarantee. That the measurements are those that
// the office drew rests on a signature, or on the seal in an export of its ledger;
// the verification says on which. Argument: docs/proofs/verify.md.
//
// Errors: *[Unverified]; *[Withdrawn] where nothing fails and the export says so; *[verdict.Unusable] where there is no
// folder or a key or export cannot be read. The verification is there also with an *Unverified and a *Withdrawn.
func Folder(ctx context.Context, place string, o Options) (*Verification, error) {
	held, err := o.read()
	if err != nil {
		return nil, err
	}
	v, err := held.verify(ctx, place)
	if v == nil {
		return nil, err
	}
	v.sayOthers()
	return v.out, err
}

// verify is [Folder] with what was read before. The verifier is there also with an *Unverified and a *Withdrawn.
func (held evidence) verify(ctx context.Context, place string) (*verifier, error) {
	folder, err := published.Resolve(place)
	if err != nil {
		return nil, &verdict.Unusable{File: place, Err: fmt.Errorf("this is not the folder of a release: %w", err)}
	}
	v := &verifier{place: folder, evidence: held, out: &Verification{Folder: place}, damaged: map[string]bool{}}
	for _, c := range []struct {
		name, proves string
		run          func(context.Context) (says string, err error)
	}{
		{"manifest", "", v.checkManifest},
		{"signature", "", v.checkSignature},
		{"files", "every file is the one that manifest.json lists, and there is no other", v.checkFiles},
		{"plan", "the plan is the one that the spec in it leads to: every sensitivity, mechanism and cost", v.checkPlan},
		{"measurements", "the measurements answer the plan's questions: shapes, lattice, mechanisms; what was chosen while measuring is what it allows", v.checkMeasurements},
		{"privacy loss", "the privacy loss of the plan's mechanisms is within the guarantee", v.checkLoss},
		{"debit", "the ledger's entry says this release, this plan and this cost, and has the hash that it is published with",
			v.checkDebit},
		{"approvals", "", v.checkApprovals},
		{"report", "the report and its certificate state the plan's guarantee and the debit", v.checkReport},
		{"republished", "all else that is published, be it tables, microdata, report or pages, is what the measurements lead to, byte for byte", v.checkRepublished},
		{"ledger", "", v.checkExport},
	} {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		says, err := c.run(ctx)
		if err := v.note(c.name, says, err); err != nil {
			return nil, err
		}
		if err == nil && c.proves != "" {
			v.out.Recomputed = append(v.out.Recomputed, c.proves)
		}
	}
	v.conclude()
	err = v.failure()
	v.out.close(err)
	if err == nil && v.out.Outcome == WithdrawnByIt {
		err = &Withdrawn{Folders: []string{place}}
	}
	return v, err
}

// close says what came of all checks, of which err is the failure.
func (v *Verification) close(err error) {
	folder, marked := screen.Quoted(v.Folder), ""
	if v.Marked != published.OfficialStatus {
		marked = " " + v.Marked + "."
	}
	switch {
	case err != nil:
		v.Outcome, v.Says = DoesNotVerify, err.Error()
	case len(v.NotEstablished) > 0:
		v.Outcome, v.Says = Consistent, fmt.Sprintf("%s is consistent in itself.%s Not established: %s.", folder, marked,
			strings.Join(v.NotEstablished, "; "))
	default:
		v.Outcome, v.Says = Verifies, fmt.Sprintf("%s verifies.%s", folder, marked)
	}
	w := v.Withdrawn
	if w == nil {
		return
	}
	if err == nil {
		v.Outcome = WithdrawnByIt
	}
	v.Says = fmt.Sprintf("%s. But THE OFFICE HAS WITHDRAWN THIS RELEASE on %s: %s", strings.TrimSuffix(v.Says, "."),
		w.Date, w.Reason)
}

// note adds a check. An error that is not about the folder is returned.
func (v *verifier) note(name, says string, err error) error {
	check := Check{Name: name, State: Passed, Says: says}
	var (
		bad  *published.Fault
		lack *notDone
	)
	switch {
	case errors.As(err, &bad):
		check.State, check.File, check.Says = Failed, bad.File, bad.Says
	case errors.As(err, &lack):
		check.State, check.Says = NotDone, lack.why
	case err != nil:
		return fmt.Errorf("check of the %s: %w", name, err)
	}
	check.File, check.Says = screen.Visible(check.File, ""), screen.Visible(check.Says, "")
	v.out.Checks = append(v.out.Checks, check)
	return nil
}

// failure is the first check that failed, with how many followed; where none failed, the
// first that was not done though every folder has what it is of: a folder that asks for more than
// the machine has, such as a billion rows, proves nothing by that.
func (v *verifier) failure() error {
	var first *Unverified
	for _, c := range v.out.Checks {
		switch {
		case c.State != Failed:
		case first == nil:
			first = &Unverified{Folder: v.out.Folder, Check: c.Name, File: c.File, Says: c.Says}
		default:
			first.More++
		}
	}
	if first != nil {
		return first
	}
	for _, c := range v.out.Checks {
		if c.State == NotDone && !slices.Contains(optional, c.Name) {
			return &Unverified{Folder: v.out.Folder, Check: c.Name, Says: c.Says}
		}
	}
	return nil
}

// optional are the checks of what a folder need not have.
var optional = []string{"signature", "approvals", "ledger"}

// path is where a file of the release lies.
func (v *verifier) path(name string) string { return filepath.Join(v.place, filepath.FromSlash(name)) }

// read reads a file that the manifest lists and that is as it lists it.
func (v *verifier) read(name string) ([]byte, error) {
	if v.damaged[name] {
		return nil, &notDone{"needs " + name + " as the manifest lists it"}
	}
	return v.readFile(name, "is missing")
}

// readFile reads a file of the folder; missing is what is said where it is not there.
func (v *verifier) readFile(name, missing string) ([]byte, error) {
	b, err := published.ReadFile(v.path(name))
	switch {
	case errors.Is(err, published.ErrMissing):
		return nil, published.Faultf(name, "%s", missing)
	case errors.Is(err, published.ErrNotFile):
		return nil, published.Faultf(name, "is not a file")
	}
	return b, err
}
