package verify

// This file holds the first checks of a published folder: that it has the files
// that its manifest lists, and that the manifest is the office's.

import (
	"context"
	"errors"
	"fmt"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/internal/progress"
	"github.com/dprelease/dprelease/internal/published"
)

// checkManifest reads the manifest, which must be in the form in which it is written.
func (v *verifier) checkManifest(context.Context) (string, error) {
	text, err := v.readFile(published.ManifestFile, "is missing: this is not the folder of a release, or not all of it")
	if err != nil {
		return "", err
	}
	m, err := published.ParseManifest(text)
	if other := new(published.OtherFormat); errors.As(err, &other) {
		return "", published.Faultf(published.ManifestFile, "%v: verify the release with the version that published it",
			other)
	}
	if err != nil {
		return "", err
	}
	v.manifest, v.manifestText = m, text
	v.out.Release, v.out.Marked, v.out.Revision = m.Release, m.Status, m.Revision
	return fmt.Sprintf("lists %s of release %s, published by %s", budget.Plural(int64(len(m.Files)), "file"), m.Release,
		m.Software), nil
}

// checkFiles compares every file with its line in the manifest and looks for files that are not listed.
func (v *verifier) checkFiles(ctx context.Context) (string, error) {
	if v.manifestText == nil {
		return "", &notDone{"needs a manifest"}
	}
	var first error
	fault := func(name, says string) {
		v.damaged[name] = true
		if first == nil {
			first = &published.Fault{File: name, Says: says}
		}
	}
	progress.SetParts(ctx, int64(len(v.manifest.Files)))
	for _, line := range v.manifest.Files {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		progress.Add(ctx, 1)
		err := published.CheckFile(v.path(line.Path), line)
		if bad := new(published.Fault); errors.As(err, &bad) {
			fault(bad.File, bad.Says)
		} else if err != nil {
			return "", err
		}
	}
	err := v.manifest.CheckUnlisted(v.place, func(name, says string) error {
		fault(name, says)
		return nil
	})
	if err != nil {
		return "", err
	}
	if more := len(v.damaged) - 1; more > 0 {
		bad := first.(*published.Fault)
		bad.Says += fmt.Sprintf("; so it is with %s", budget.Plural(int64(more), "more file"))
	}
	return "each as listed, and no other", first
}

// checkSignature checks the signature of the manifest, if there is one.
func (v *verifier) checkSignature(context.Context) (string, error) {
	text, err := published.ReadFile(v.path(published.SignatureFile))
	if errors.Is(err, published.ErrMissing) {
		if !v.trust.IsZero() {
			return "", published.Faultf(published.SignatureFile,
				"is missing: the release is not signed, so %s says nothing about it; ask the office for the signed one",
				v.options.Trust)
		}
		return "", &notDone{"the release is not signed, so whoever can write in this folder may have written all of it"}
	}
	if errors.Is(err, published.ErrNotFile) {
		return "", published.Faultf(published.SignatureFile, "is not a file")
	}
	if err != nil {
		return "", err
	}
	if v.manifestText == nil {
		return "", &notDone{"needs a manifest"}
	}
	s, err := published.ParseSignature(text, v.manifestText)
	if !v.trust.IsZero() && !s.Signer.IsZero() && s.Signer != v.trust {
		return "", published.Faultf(published.SignatureFile,
			"is by the key with the fingerprint %s, not by the one in %s (%s)", s.Signer.Fingerprint(), v.options.Trust,
			v.trust.Fingerprint())
	}
	if err != nil {
		return "", err
	}
	v.manifestSigner = s.Signer
	v.out.Signed = append(v.out.Signed,
		fmt.Sprintf("manifest.json, and with it every file: by the key with the fingerprint %s, %s",
			s.Signer.Fingerprint(),
			v.keyAdvice()))
	return "of the manifest, by the key with the fingerprint " + s.Signer.Fingerprint(), nil
}

// keyAdvice returns what a reader should do with the fingerprint of a key.
func (v *verifier) keyAdvice() string {
	if v.trust.IsZero() {
		return "which this folder itself names: compare it with the office's"
	}
	return "the one in " + v.options.Trust
}
