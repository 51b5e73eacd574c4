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
	"github.com/dprelease/dprelease/internal/progress"
	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/internal/regular"
	"github.com/dprelease/dprelease/internal/screen"
	"github.com/dprelease/dprelease/internal/verdict"
	"github.com/dprelease/dprelease/plan/compiled"
)

// Options say what a published folder is compared with in addition to itself.
type Options struct {
	Trust  string // file of the office's public key; empty: none is known
	Export string // file of an export of the office's ledger; empty: none
}

// Verification is the result of checking a published folder.
type Verification struct {
	Folder   string  `json:"folder"`
	Release  string  `json:"release,omitempty"`
	Marked   string  `json:"marked,omitempty"` // RELEASE, or what is printed on everything instead
	Revision int     `json:"revision,omitempty"`
	Checks   []Check `json:"checks"`
	// Recomputed is what was computed here, Signed what rests on keys that a reader
	// compares, Unchecked what the folder alone cannot show.
	Recomputed []string `json:"recomputed_here"`
	Signed     []string `json:"signed"`
	Unchecked  []string `json:"cannot_be_checked_from_here"`
	// NotEstablished says, in sentences, what a release that is consistent in itself claims and nothing here shows.
	NotEstablished []string    `json:"not_established,omitempty"`
	Withdrawn      *Withdrawal `json:"withdrawn,omitempty"` // by the office, as the export of its ledger says
	Outcome        Outcome     `json:"outcome"`             // of all checks
	Says           string      `json:"says"`                // the outcome in words, printed last
}

// Withdrawal is the office's mark on a release that must not be used any more.
type Withdrawal struct {
	Date   string `json:"date"` // YYYY-MM-DD, UTC
	Reason string `json:"reason"`
}

// Outcome is the result of a verification.
type Outcome string

// The outcomes of a verification.
const (
	Verifies          Outcome = "verifies"
	Consistent        Outcome = "consistent" // in itself: see NotEstablished
	WithdrawnByOffice Outcome = "withdrawn"  // by the office: unchanged, and not to be used
	DoesNotVerify     Outcome = "fails"
)

// Withdrawn reports one or several releases that verify and that the office has withdrawn.
type Withdrawn struct{ Folders []string }

func (e *Withdrawn) Error() string {
	if len(e.Folders) == 1 {
		return screen.Quoted(e.Folders[0]) + " is withdrawn by the office: do not use it"
	}
	return quotedList(e.Folders) + " are withdrawn by the office: do not use them"
}

// Verdict returns that the folder must not be used although it is unchanged.
func (*Withdrawn) Verdict() verdict.Verdict {
	return verdict.Verdict{Exit: verdict.ExitWithdrawn, Reason: verdict.ReleaseWithdrawn, Retry: verdict.Never}
}

// Check is one line of a verification.
type Check struct {
	Name  string     `json:"check"`
	State CheckState `json:"state"`
	File  string     `json:"file,omitempty"` // at fault
	Says  string     `json:"says"`
}

// CheckState is the result of a check.
type CheckState string

// The results of a check.
const (
	Passed  CheckState = "passed"
	Failed  CheckState = "failed"
	NotDone CheckState = "not done" // what the check needs is missing or changed
)

// Unverified reports a published folder that is not what it claims to be, with the file of the first check that
// failed. If none failed it names the first required check that was not done, and no file.
type Unverified struct {
	Folder, Check, File, Says string
	FurtherFailures           int // checks that failed after it
}

func (e *Unverified) Error() string {
	if e.File == "" {
		return fmt.Sprintf("%s is not verified, as the check %s was not done: %s", screen.Quoted(e.Folder), e.Check,
			e.Says)
	}
	text := fmt.Sprintf("%s does not verify: %s: %s", screen.Quoted(e.Folder), screen.Quoted(e.File), e.Says)
	if e.FurtherFailures == 1 {
		text += " (and 1 more check fails)"
	} else if e.FurtherFailures > 1 {
		text += fmt.Sprintf(" (and %d more checks fail)", e.FurtherFailures)
	}
	return text
}

// Verdict returns that the folder must not be used.
func (*Unverified) Verdict() verdict.Verdict {
	return verdict.Verdict{Exit: verdict.ExitVerify, Reason: verdict.NotVerified, Retry: verdict.Never}
}

// notDone ends a check that cannot be done.
type notDone struct{ why string }

func (e *notDone) Error() string { return e.why }

// evidence is what folders are compared with, read once for all of them.
type evidence struct {
	options     Options
	trust       sign.PublicKey // zero: no key is trusted
	export      *ledger.Export // nil: none was given, or it was altered
	exportFault error          // what is wrong with an altered export
}

// readKeyAndExport reads the trusted public key and the export of the ledger, so far as the options name them. Errors:
// *[verdict.Unusable].
func (o Options) readKeyAndExport() (evidence, error) {
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
		e.exportFault = err
	case err != nil:
		return e, &verdict.Unusable{File: o.Export, Err: err}
	}
	return e, nil
}

// verifier checks one published folder.
type verifier struct {
	place string // the folder, links resolved
	evidence
	out *Verification

	manifest       published.Manifest
	manifestText   []byte          // of the manifest
	manifestSigner sign.PublicKey  // who signed the manifest; zero: nobody
	damaged        map[string]bool // files that differ from the manifest
	plan           *compiled.Compiled
	planFollows    bool             // the plan follows from its spec
	sealed         *measured.Sealed // plan, receipt and measurements, as they were before they were published
	record         *ledger.Record
}

// Folder checks a published folder without confidential data and without trust in whoever wrote it: that it is
// complete and unchanged, that everything in it follows from its plan and its measurements, that the privacy loss is
// the one promised, and that a ledger was debited for it. Releases, practice runs, rehearsals and revisions are all
// checked.
//
// Contract: where it returns no error, tables, microdata, report and pages are what this program derives from the
// measurements in the folder, these have the shapes and mechanisms of the plan and the rounds that it allows, the plan
// is the one that its spec leads to, and the loss of its mechanisms is within its guarantee. That the measurements are
// the ones that the office drew rests on a signature, or on the seal in an export of its ledger; the verification says
// on which. Argument: docs/proofs/verify.md.
//
// Errors: *[Unverified]; *[Withdrawn] if nothing fails and the export says so; *[verdict.Unusable] if there is no
// folder or a key or export cannot be read. The verification is returned also with an *Unverified and a *Withdrawn.
func Folder(ctx context.Context, place string, o Options) (*Verification, error) {
	known, err := o.readKeyAndExport()
	if err != nil {
		return nil, err
	}
	v, err := known.verify(ctx, place)
	if v == nil {
		return nil, err
	}
	v.listOtherDebits()
	return v.out, err
}

// verify is [Folder] with evidence that was read before. It returns the verifier also with an *Unverified and a
// *Withdrawn.
func (known evidence) verify(ctx context.Context, place string) (*verifier, error) {
	folder, err := published.Resolve(place)
	if err != nil {
		return nil, &verdict.Unusable{File: place, Err: fmt.Errorf("this is not the folder of a release: %w", err)}
	}
	v := &verifier{place: folder, evidence: known, out: &Verification{Folder: place}, damaged: map[string]bool{}}
	for _, c := range []struct {
		name, proves string
		run          func(context.Context) (says string, err error)
	}{
		{"manifest", "", v.checkManifest},
		{"signature", "", v.checkSignature},
		{"files", "every file is the one that manifest.json lists, and there is no other", v.checkFiles},
		{"plan", "the plan is what the spec in it leads to, in every sensitivity, mechanism and cost", v.checkPlan},
		{"measurements", "the measurements answer the plan's questions in shape, lattice and mechanism, and the plan " +
			"allows all that was chosen while measuring", v.checkMeasurements},
		{"privacy loss", "the privacy loss of the plan's mechanisms is within the guarantee", v.checkLoss},
		{"debit", "the ledger's entry is for this release, this plan and this cost, and has the hash that is published",
			v.checkDebit},
		{"approvals", "", v.checkApprovals},
		{"report", "the report and its certificate state the plan's guarantee and the debit", v.checkReport},
		{"republished", "everything else that is published (tables, microdata, report, pages) is what the " +
			"measurements lead to, byte for byte", v.checkRepublished},
		{"ledger", "", v.checkExport},
	} {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		says, err := c.run(progress.Begin(ctx, 0, "checking %s", c.name))
		if err := v.addCheck(c.name, says, err); err != nil {
			return nil, err
		}
		if err == nil && c.proves != "" {
			v.out.Recomputed = append(v.out.Recomputed, c.proves)
		}
	}
	v.summarize()
	err = v.firstFailure()
	v.out.conclude(err)
	if err == nil && v.out.Outcome == WithdrawnByOffice {
		err = &Withdrawn{Folders: []string{place}}
	}
	return v, err
}

// conclude sets the outcome of all checks, given their failure, nil for none.
func (v *Verification) conclude(err error) {
	folder, marked := screen.Quoted(v.Folder), ""
	if v.Marked != published.OfficialStatus {
		marked = " " + v.Marked + "."
	}
	switch {
	case err != nil:
		v.Outcome, v.Says = DoesNotVerify, err.Error()
	case len(v.NotEstablished) > 0:
		v.Outcome, v.Says = Consistent, fmt.Sprintf("%s is consistent in itself.%s %s", folder, marked,
			strings.Join(v.NotEstablished, " "))
	default:
		v.Outcome, v.Says = Verifies, fmt.Sprintf("%s verifies.%s", folder, marked)
	}
	w := v.Withdrawn
	if w == nil {
		return
	}
	if err == nil {
		v.Outcome = WithdrawnByOffice
	}
	v.Says = fmt.Sprintf("%s. But THE OFFICE HAS WITHDRAWN THIS RELEASE on %s: %s", strings.TrimSuffix(v.Says, "."),
		w.Date, w.Reason)
}

// addCheck adds the result of a check. An error that does not concern the folder is returned.
func (v *verifier) addCheck(name, says string, err error) error {
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

// firstFailure returns the first failed check, with the number of those that failed after it. If none failed it
// returns the first check that was not done although it is required. A folder that needs more than the machine has,
// such as a billion rows, must not pass because of that.
func (v *verifier) firstFailure() error {
	var first *Unverified
	for _, c := range v.out.Checks {
		switch {
		case c.State != Failed:
		case first == nil:
			first = &Unverified{Folder: v.out.Folder, Check: c.Name, File: c.File, Says: c.Says}
		default:
			first.FurtherFailures++
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

// optional lists the checks of files that a folder need not have.
var optional = []string{"signature", "approvals", "ledger"}

// path returns where a file of the release is.
func (v *verifier) path(name string) string { return filepath.Join(v.place, filepath.FromSlash(name)) }

// readListed reads a file, which must be as the manifest lists it.
func (v *verifier) readListed(name string) ([]byte, error) {
	if v.damaged[name] {
		return nil, &notDone{"needs " + name + " as the manifest lists it"}
	}
	return v.readFile(name, "is missing")
}

// readFile reads a file of the folder. The text missing says what is wrong if there is no such file.
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
