package release

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/dprelease/dprelease/budget/ledger"
	"github.com/dprelease/dprelease/internal/durable"
	"github.com/dprelease/dprelease/internal/planfile"
	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/plan/compiled"
)

// Result describes what a run has left.
type Result struct {
	Folder      string // folder of the sealed measurements, or published folder
	Status      string // of the release, in words
	AlreadyDone bool   // the folder existed before, from the same plan
	// InputsChanged is the day on which the files of an existing release were counted, if they have changed since; ""
	// if they are the same or nothing is known about them.
	InputsChanged string
	// Signature is the outcome for the signature of a published folder; "" for measurements.
	Signature Signature
}

// Signature is what a publication did about the signature of its folder, [published.SignatureFile].
type Signature string

const (
	// Unsigned is a folder without a signature: no office key was given, or there are no measurements to compare the
	// folder with.
	Unsigned Signature = "none"
	// SignedNow is a new folder that was signed when it was published.
	SignedNow Signature = "made"
	// SignatureAdded is an existing folder without a signature that was signed now.
	SignatureAdded Signature = "added"
	// SignatureReplaced is an existing folder whose signature by another key was replaced by one with the office's key.
	SignatureReplaced Signature = "replaced"
	// SignedBefore is an existing folder whose signature was kept.
	SignedBefore Signature = "there before"
)

// Run plans, measures and publishes a spec. An existing release of the same plan is success; one of another plan is
// refused before anything is read or spent.
func Run(ctx context.Context, p *compiled.Compiled, o Options) (Result, error) {
	place := filepath.Join(o.Out, p.Name)
	status, err := publishedFor(place, p, o)
	if err != nil {
		return Result{}, err
	}
	sealed := MeasuredFolder(o.Out, p.Name)
	record, err := sealedFor(sealed, p, o)
	if err != nil {
		return Result{}, err
	}
	if status != "" && record == nil {
		var changed string
		err := published.OpenIntact(place, p)
		if err == nil {
			err = o.reconcilePublished(ctx, p, place)
		}
		if err == nil {
			err = o.checkWords(place, p)
		}
		if err == nil {
			changed, err = o.inputsChanged(ctx, p)
		}
		result := Result{Folder: place, Status: status, AlreadyDone: true, InputsChanged: changed, Signature: Unsigned}
		if signed, _ := durable.Exists(filepath.Join(place, published.SignatureFile)); signed {
			result.Signature = SignedBefore
		}
		return result, err
	}
	if info, err := os.Stat(planfile.Path(p, o.Out)); err == nil && !info.Mode().IsRegular() {
		return Result{}, &Occupied{Folder: planfile.Path(p, o.Out), Why: "is not a file"}
	}
	measurement, err := Measure(ctx, p, o)
	if err != nil {
		return Result{}, writeForApproval(err, p, o.Out)
	}
	if _, err := planfile.Write(p, o.Out); err != nil {
		return Result{}, err
	}
	o.keepTemplate(p)
	result, err := Publish(ctx, sealed, o)
	result.InputsChanged = measurement.InputsChanged
	return result, err
}

// writeForApproval writes the plan if err is an account's refusal for lack of approvals, so that there is a file to
// approve, and names that file in the refusal. It returns other errors unchanged.
func writeForApproval(err error, p *compiled.Compiled, out string) error {
	var unapproved *ledger.Unapproved
	if !errors.As(err, &unapproved) {
		return err
	}
	path, failed := planfile.Write(p, out)
	if failed != nil {
		return errors.Join(err, failed)
	}
	unapproved.PlanFile = path
	return err
}

// publishedFor returns the status, in words, of the plan's release in place, and "" if place does not exist. It
// returns an error if place holds another plan's release or anything else.
func publishedFor(place string, p *compiled.Compiled, o Options) (string, error) {
	there, err := durable.Exists(place)
	if err != nil || !there {
		return "", err
	}
	m, err := published.ReadManifest(place)
	if err != nil || m.PlanHash != p.Hash() {
		return "", occupiedBy(place, err)
	}
	if m.Status == published.PracticeStatus {
		err = o.checkStatus(place, ledger.Practice)
	}
	return m.Status, err
}
