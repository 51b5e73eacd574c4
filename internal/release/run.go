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

// Result is what a run leaves.
type Result struct {
	Place   string // the folder: of the sealed measurements, or the published one
	Status  string // of the release, in words
	Already bool   // it was there before, from the same plan
	// InputsChanged is the day on which the files of a release that was there before were counted, where they are others
	// now; "" where they are the same or nothing is known of them.
	InputsChanged string
	// Signature says what came of the signature of a published folder; "" of measurements.
	Signature Signature
}

// Signature is what a publication did about the signature of its folder, [published.SignatureFile].
type Signature string

const (
	// Unsigned is a folder without a signature: no office key was given, or there are no measurements to compare the
	// folder with.
	Unsigned Signature = "none"
	// SignedNow is a folder that was published and signed at once.
	SignedNow Signature = "made"
	// SignatureAdded is a folder that was there without a signature, and has one now.
	SignatureAdded Signature = "added"
	// SignatureReplaced is a folder that was there with a signature by another key, and has one by the office's now.
	SignatureReplaced Signature = "replaced"
	// SignedBefore is a folder that was there with a signature, which was left as it is.
	SignedBefore Signature = "there before"
)

// Run plans, measures and publishes a spec. A release that is already there
// from the same plan is success; one from another plan is refused before
// anything is read or spent.
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
		err := published.Intact(place, p)
		if err == nil {
			err = o.alreadyPublished(ctx, p, place)
		}
		if err == nil {
			changed, err = o.inputsChanged(ctx, p)
		}
		result := Result{Place: place, Status: status, Already: true, InputsChanged: changed, Signature: Unsigned}
		if signed, _ := durable.Exists(filepath.Join(place, published.SignatureFile)); signed {
			result.Signature = SignedBefore
		}
		return result, err
	}
	if info, err := os.Stat(planfile.Path(p, o.Out)); err == nil && !info.Mode().IsRegular() {
		return Result{}, &Occupied{Place: planfile.Path(p, o.Out), Why: "is not a file"}
	}
	measurement, err := Measure(ctx, p, o)
	if err != nil {
		return Result{}, toBeSigned(err, p, o.Out)
	}
	if _, err := planfile.Write(p, o.Out); err != nil {
		return Result{}, err
	}
	o.keepTemplate(p)
	result, err := Publish(ctx, sealed, o)
	result.InputsChanged = measurement.InputsChanged
	return result, err
}

// toBeSigned writes the plan where the account refuses it for want of approvals, so that there is a file to approve,
// and names that file in the refusal. Other errors stay as they are.
func toBeSigned(err error, p *compiled.Compiled, out string) error {
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

// publishedFor is the status, in words, of the release of the plan that place
// holds already, empty where there is nothing; another plan's release, or
// anything else there, is an error.
func publishedFor(place string, p *compiled.Compiled, o Options) (string, error) {
	there, err := durable.Exists(place)
	if err != nil || !there {
		return "", err
	}
	m, err := published.ReadManifest(place)
	if err != nil || m.PlanHash != p.Hash() {
		return "", occupied(place, err)
	}
	if m.Status == published.PracticeStatus {
		err = o.accepts(place, ledger.Practice)
	}
	return m.Status, err
}
