package release

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"

	"github.com/dprelease/dprelease/budget/ledger"
	"github.com/dprelease/dprelease/budget/sign"
	"github.com/dprelease/dprelease/internal/derive"
	"github.com/dprelease/dprelease/internal/durable"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/internal/verdict"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/planner"
)

// Publish derives tables, report and manifest from a sealed folder and moves them to out/NAME, or to out/NAME-rN for a
// later revision. It reads nothing else, spends nothing, and gives the same bytes every time: if the output folder
// already holds them, Publish succeeds. With an office key it signs the manifest. A configured ledger must have paid
// for the measurements.
//
// Errors: *[verdict.Unusable] if there is no such folder, or no publication that a revision replaces; *[BrokenSeal] if
// the folder is not as it was sealed; *[Occupied] if the output folder holds something else; *[published.Altered] if
// it holds this release, changed.
func Publish(ctx context.Context, sealedDir string, o Options) (Result, error) {
	if err := checkSealed(sealedDir); err != nil {
		return Result{}, &verdict.Unusable{File: sealedDir, Err: err}
	}
	s, record, err := openSealed(sealedDir, o.Revision.Number > 1)
	if err != nil {
		return Result{}, err
	}
	if s.Share != nil {
		return Result{}, &verdict.Unusable{File: sealedDir, Err: fmt.Errorf(
			"%s is the masked share of %s, of which nothing can be published: add the shares of all holders with "+
				"dprelease combine", sealedDir, s.Share.Holder)}
	}
	if s.Holders == nil { // the debits of holders are in ledgers of theirs
		if err := o.checkPaid(ctx, sealedDir, record); err != nil {
			return Result{}, err
		}
	}
	rows, err := published.ParseRows(s.Plan, o.Rows)
	if err != nil {
		return Result{}, err
	}
	methods, err := published.ParseMethods(s.Plan, o.Methods)
	if err != nil {
		return Result{}, err
	}
	m, err := o.Revision.newManifest(o.Out, s)
	if err != nil {
		return Result{}, err
	}
	if s, err = o.withWords(ctx, s); err != nil {
		return Result{}, err
	}
	m.Rows, m.Methods = rows, methods
	if m.Approvals, err = o.wordsApprovals(sealedDir, s.Plan, record); err != nil {
		return Result{}, err
	}
	result := Result{Folder: o.Revision.place(o.Out, s.Plan.Name), Status: published.StatusText(record.Status),
		Signature: Unsigned}
	out, err := stage(o.Out, filepath.Base(result.Folder))
	if err != nil {
		return result, err
	}
	defer out.discard()
	if err := derive.Release(ctx, out.Folder, s, record, m, derive.Modules()); err != nil {
		return result, err
	}
	if o.Office != nil {
		if err := signManifest(out.Dir, *o.Office); err != nil {
			return result, err
		}
		result.Signature = SignedNow
	}
	there, err := durable.Exists(result.Folder)
	if err == nil && !there {
		if err = out.commit(); err == nil {
			o.logger().Info("release published", "folder", result.Folder)
			return result, nil
		}
		there, _ = durable.Exists(result.Folder) // another process was there first
	}
	if there {
		err = comparePublished(out.Dir, result.Folder, s.Plan.Hash(), rows, methods)
	}
	if there && err == nil {
		result.Signature, err = out.addSignature(result.Signature == SignedNow)
	}
	result.AlreadyDone = err == nil
	return result, err
}

// signManifest writes the signature of the manifest of a folder next to it.
func signManifest(dir string, office sign.Key) error {
	text, err := published.ReadFile(filepath.Join(dir, published.ManifestFile))
	if err != nil {
		return err
	}
	b, err := published.Sign(text, office)
	if err != nil {
		return err
	}
	return durable.ReplaceFile(dir, published.SignatureFile, b)
}

// checkSealed returns an error that describes what dir is if it cannot be a folder of measurements.
func checkSealed(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if there, err := durable.Exists(filepath.Join(dir, measured.SealFile)); err != nil || there {
		return err
	}
	what := "the folder NAME.measured is needed, which `dprelease measure` and `dprelease run` write"
	if there, err := durable.Exists(MeasuredFolder(filepath.Dir(dir), filepath.Base(dir))); err == nil && there {
		what = fmt.Sprintf("the measurements of this release are in %s",
			MeasuredFolder(filepath.Dir(dir), filepath.Base(dir)))
	}
	if !info.IsDir() {
		return fmt.Errorf("this is a file, and not a folder of measurements: %s", what)
	}
	if there, err := durable.Exists(filepath.Join(dir, published.ManifestFile)); err == nil && there {
		return fmt.Errorf("this is a published release, and not a folder of measurements: %s", what)
	}
	return fmt.Errorf("this is not a folder of measurements: %s", what)
}

// addSignature moves the staged signature, if made says that there is one, into the output folder, which already
// exists with the same files as the staging folder.
func (s *staging) addSignature(made bool) (Signature, error) {
	before, err := durable.Exists(filepath.Join(s.at.Target, published.SignatureFile))
	switch {
	case err != nil:
		return Unsigned, err
	case !made && before:
		return SignedBefore, nil
	case !made:
		return Unsigned, nil
	case !before:
		return SignatureAdded, s.moveIn(published.SignatureFile)
	}
	same, err := published.EqualFiles(filepath.Join(s.Dir, published.SignatureFile),
		filepath.Join(s.at.Target, published.SignatureFile))
	if err != nil || same {
		return SignedBefore, err
	}
	return SignatureReplaced, s.moveIn(published.SignatureFile)
}

// openSealed opens a folder of measurements completely: every file must be as it was sealed, the plan must follow from
// its spec, and the receipt must be for the plan. With otherVersion, the plan may be one that another version made; it
// was checked against its spec before the debit, and the receipt is for its hash. Errors: *[BrokenSeal].
func openSealed(dir string, otherVersion bool) (*measured.Sealed, ledger.Record, error) {
	read := planner.Read
	if otherVersion {
		read = compiled.Read
	}
	s, err := measured.Open(dir, read)
	if errors.Is(err, plan.ErrEdited) {
		if _, shaped := measured.Open(dir, compiled.Read); shaped == nil {
			err = errors.New("its plan is not what this version makes of its spec: publish it with the version that " +
				"measured it")
		}
	}
	var record ledger.Record
	if err == nil {
		record, err = published.RecordIn(s)
	}
	if err != nil {
		return nil, record, &BrokenSeal{Err: fmt.Errorf("%s: %w", dir, err)}
	}
	return s, record, nil
}

// comparePublished compares an existing published folder with what its measurements lead to now. It returns nil if
// they are equal except for the signature of the manifest.
func comparePublished(staged, place, planHash string, rows published.RequestedRows,
	methods published.RequestedMethods) error {
	m, err := published.ReadManifest(place)
	if err != nil || m.PlanHash != planHash {
		return occupiedBy(place, err)
	}
	if m.Software != published.Software {
		return &Occupied{Folder: place,
			Why: fmt.Sprintf("was published by %s, and this is %s: what they write may differ; publish a revision in "+
				"addition (--revision 2 --reason TEXT)", m.Software, published.Software)}
	}
	if !maps.Equal(m.Rows, rows) {
		return &Occupied{Folder: place,
			Why: fmt.Sprintf("was published with %s, and this asks for %s: ask for the same, or publish a revision "+
				"in addition (--revision %d --reason TEXT)", m.Rows, rows, max(m.Revision, 1)+1)}
	}
	if !maps.Equal(m.Methods, methods) {
		return &Occupied{Folder: place,
			Why: fmt.Sprintf("was published with %s, and this asks for %s: ask for the same, or publish a revision "+
				"in addition (--revision %d --reason TEXT)", m.Methods, methods, max(m.Revision, 1)+1)}
	}
	want, err := published.Files(staged)
	if err != nil {
		return err
	}
	for _, name := range want {
		if name == published.SignatureFile {
			continue
		}
		same, err := published.EqualFiles(filepath.Join(staged, filepath.FromSlash(name)),
			filepath.Join(place, filepath.FromSlash(name)))
		if err != nil {
			return err
		}
		if !same {
			return &published.Altered{Folder: place, File: name}
		}
	}
	dir, err := published.Resolve(place)
	if err != nil {
		return err
	}
	return m.CheckUnlisted(dir, func(name, _ string) error { return &published.Altered{Folder: place, File: name} })
}

// occupiedBy returns the refusal to overwrite a folder whose manifest was read with err.
func occupiedBy(place string, err error) error {
	if verdict.Has[*fs.PathError](err) && !published.Missing(err) {
		return err
	}
	if err != nil {
		return &Occupied{Folder: place, Why: "holds something else than a release"}
	}
	return &Occupied{Folder: place, Why: "holds a release of another plan"}
}
