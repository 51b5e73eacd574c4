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

// Publish derives tables, report and manifest from a sealed folder and moves
// them to out/NAME, or to out/NAME-rN for a later revision. It reads nothing else,
// spends nothing, and gives the same bytes every time: where its place holds them
// already, that is success. With an office key the manifest is signed, and with a
// ledger it must have paid for the measurements.
//
// Errors: *[verdict.Unusable] where there is no such folder, or no publication that a
// revision replaces; *[BrokenSeal] where it is not as it was sealed; *[Occupied]
// where its place holds something else; *[published.Altered] where it holds this release,
// changed.
func Publish(ctx context.Context, sealedDir string, o Options) (Result, error) {
	if err := isSealed(sealedDir); err != nil {
		return Result{}, &verdict.Unusable{File: sealedDir, Err: err}
	}
	s, record, err := openSealed(sealedDir, o.Revision.Number > 1)
	if err != nil {
		return Result{}, err
	}
	if err := o.paid(ctx, sealedDir, record); err != nil {
		return Result{}, err
	}
	rows, err := published.ParseRows(s.Plan, o.Rows)
	if err != nil {
		return Result{}, err
	}
	methods, err := published.ParseMethods(s.Plan, o.Methods)
	if err != nil {
		return Result{}, err
	}
	m, err := o.Revision.manifest(o.Out, s)
	if err != nil {
		return Result{}, err
	}
	m.Rows, m.Methods = rows, methods
	result := Result{Place: o.Revision.place(o.Out, s.Plan.Name), Status: published.StatusText(record.Status),
		Signature: Unsigned}
	out, err := stage(o.Out, filepath.Base(result.Place))
	if err != nil {
		return result, err
	}
	defer out.discard()
	out.Progress, out.Step = o.Progress, o.step
	if err := derive.Release(ctx, out.Folder, s, record, m, derive.Modules()); err != nil {
		return result, err
	}
	if o.Office != nil {
		if err := signManifest(out.Dir, *o.Office); err != nil {
			return result, err
		}
		result.Signature = SignedNow
	}
	there, err := durable.Exists(result.Place)
	if err == nil && !there {
		if err = out.commit(); err == nil {
			o.logger().Info("release published", "folder", result.Place)
			return result, nil
		}
		there, _ = durable.Exists(result.Place) // another process was there first
	}
	if there {
		err = compare(out.Dir, result.Place, s.Plan.Hash(), rows, methods)
	}
	if there && err == nil {
		result.Signature, err = out.lendSignature(result.Signature == SignedNow)
	}
	result.Already = err == nil
	return result, err
}

// signManifest writes the signature of the manifest in a folder beside it.
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

// isSealed returns an error for what cannot be a folder of measurements, with what it is instead.
func isSealed(dir string) error {
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

// lendSignature signs the place, which is there already and as what is staged, by the staged signature where one was
// made.
func (s *staging) lendSignature(made bool) (Signature, error) {
	before, err := durable.Exists(filepath.Join(s.at.Place, published.SignatureFile))
	switch {
	case err != nil:
		return Unsigned, err
	case !made && before:
		return SignedBefore, nil
	case !made:
		return Unsigned, nil
	case !before:
		return SignatureAdded, s.lend(published.SignatureFile)
	}
	same, err := published.EqualFiles(filepath.Join(s.Dir, published.SignatureFile),
		filepath.Join(s.at.Place, published.SignatureFile))
	if err != nil || same {
		return SignedBefore, err
	}
	return SignatureReplaced, s.lend(published.SignatureFile)
}

// openSealed opens a folder of measurements whole: every file as it was sealed,
// the plan what its spec leads to, the receipt that of the plan. With older, the
// plan may be one that another version made, and that was held against its spec
// before its debit: the receipt is for its hash. Errors: *[BrokenSeal].
func openSealed(dir string, older bool) (*measured.Sealed, ledger.Record, error) {
	read := planner.Read
	if older {
		read = compiled.Read
	}
	s, err := measured.Open(dir, read)
	if errors.Is(err, plan.ErrEdited) {
		if _, shaped := measured.Open(dir, compiled.Read); shaped == nil {
			err = errors.New("its plan is not what this version makes of its spec: publish it with the version that measured it")
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

// compare holds a folder that was published before against what its
// measurements lead to now: equal, but for the signature of the manifest, is
// success.
func compare(staged, place, planHash string, rows published.RowsAsked, methods published.MethodsAsked) error {
	m, err := published.ReadManifest(place)
	if err != nil || m.PlanHash != planHash {
		return occupied(place, err)
	}
	if m.Software != published.Software {
		return &Occupied{Place: place,
			Why: fmt.Sprintf("was published by %s, and this is %s: what they write may differ; publish a revision beside it (--revision 2 --reason TEXT)", m.Software, published.Software)}
	}
	if !maps.Equal(m.Rows, rows) {
		return &Occupied{Place: place,
			Why: fmt.Sprintf("was published with %s, and this asks for %s: ask for the same, or publish a revision beside it (--revision %d --reason TEXT)", m.Rows, rows, max(m.Revision, 1)+1)}
	}
	if !maps.Equal(m.Methods, methods) {
		return &Occupied{Place: place,
			Why: fmt.Sprintf("was published with %s, and this asks for %s: ask for the same, or publish a revision beside it (--revision %d --reason TEXT)", m.Methods, methods, max(m.Revision, 1)+1)}
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
			return &published.Altered{Place: place, File: name}
		}
	}
	dir, err := published.Resolve(place)
	if err != nil {
		return err
	}
	return m.Strangers(dir, func(name, _ string) error { return &published.Altered{Place: place, File: name} })
}

// occupied is the refusal to write over something else.
func occupied(place string, err error) error {
	if verdict.Has[*fs.PathError](err) && !published.Missing(err) {
		return err
	}
	if err != nil {
		return &Occupied{Place: place, Why: "holds something else than a release"}
	}
	return &Occupied{Place: place, Why: "holds a release of another plan"}
}
