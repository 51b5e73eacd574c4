package release

// This file holds the first checks of a published folder: it has the files that
// its manifest lists, and the manifest is the office's.

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"unicode"

	"github.com/dprelease/dprelease/budget"
)

// checkManifest reads the manifest, and only in the form in which it is written.
func (v *verifier) checkManifest(context.Context) (string, error) {
	text, err := readRegular(v.path(manifestFile))
	switch {
	case errors.Is(err, errMissing):
		return "", wrongf(manifestFile, "is missing: this is not the folder of a release, or not all of it")
	case errors.Is(err, errNoFile):
		return "", wrongf(manifestFile, "is not a file")
	case err != nil:
		return "", err
	}
	if err := json.Unmarshal(text, &v.manifest); err != nil {
		return "", wrongf(manifestFile, "cannot be read: %v", err)
	}
	m := &v.manifest
	if m.Format != manifestFormat {
		return "", wrongf(manifestFile, "has format %q, expected %q: verify the release with the version that published it", m.Format, manifestFormat)
	}
	if again, err := indented(m); err != nil || !bytes.Equal(again, text) {
		return "", wrongf(manifestFile, "is not in the form in which it is written: it was edited")
	}
	if err := m.formed(); err != nil {
		return "", wrongf(manifestFile, "%v", err)
	}
	if !slices.IsSortedFunc(m.Files, func(a, b manifestLine) int { return strings.Compare(inOrder(a.Path), inOrder(b.Path)) }) {
		return "", wrongf(manifestFile, "does not list its files in order")
	}
	for i, line := range m.Files {
		switch {
		case line.Path == manifestFile || line.Path == signatureFile || !filepath.IsLocal(filepath.FromSlash(line.Path)) || strings.Contains(line.Path, `\`) || strings.ContainsFunc(line.Path, unseen):
			return "", wrongf(manifestFile, "lists %q, which is no file of a release", line.Path)
		case i > 0 && line.Path == m.Files[i-1].Path:
			return "", wrongf(manifestFile, "lists %s twice", line.Path)
		}
	}
	v.text = text
	v.out.Release, v.out.Marked, v.out.Revision = m.Release, m.Status, m.Revision
	return fmt.Sprintf("lists %s of release %s, published by %s", budget.Plural(int64(len(m.Files)), "file"), m.Release, m.Software), nil
}

// unseen tells that a character does not belong into the name of a file of a release.
func unseen(c rune) bool { return unicode.IsSpace(c) || !unicode.IsGraphic(c) }

// inOrder is a path as a walk through folders sorts it.
func inOrder(path string) string { return strings.ReplaceAll(path, "/", "\x00") }

// checkFiles holds every file against its line of the manifest and looks for
// others.
func (v *verifier) checkFiles(ctx context.Context) (string, error) {
	if v.text == nil {
		return "", &notDone{"needs a manifest"}
	}
	var first error
	fault := func(name, says string) {
		v.damaged[name] = true
		if first == nil {
			first = &wrong{name, says}
		}
	}
	listed := map[string]bool{manifestFile: true, signatureFile: true}
	for _, line := range v.manifest.Files {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		listed[line.Path] = true
		size, sum, err := digest(v.path(line.Path))
		switch {
		case errors.Is(err, errMissing):
			fault(line.Path, "is missing")
		case errors.Is(err, errNoFile):
			fault(line.Path, "is not a file")
		case err != nil:
			return "", err
		case sum != line.SHA256 || size != line.Bytes:
			fault(line.Path, "is not the file that manifest.json lists: its SHA-256 differs")
		}
	}
	err := filepath.WalkDir(v.place, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(v.place, path)
		if name = filepath.ToSlash(name); err == nil && !listed[name] {
			fault(name, "is not listed in manifest.json: it was added")
		}
		return err
	})
	if err != nil {
		return "", err
	}
	if more := len(v.damaged) - 1; more > 0 {
		bad := first.(*wrong)
		bad.says += fmt.Sprintf("; so it is with %s", budget.Plural(int64(more), "more file"))
	}
	return "each as listed, and no other", first
}

var (
	errMissing = errors.New("there is no such file")
	errNoFile  = errors.New("not a regular file")
)

// missing tells of an error that there is no such file, and not that it could not be read.
func missing(err error) bool {
	return errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ENAMETOOLONG)
}

// openRegular opens a file of the folder. What is no regular file is never opened:
// a pipe would not end, and a link leads elsewhere. Errors: errMissing, errNoFile.
func openRegular(path string) (*os.File, error) {
	info, err := os.Lstat(path)
	switch {
	case missing(err):
		return nil, errMissing
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errNoFile
	}
	return os.Open(path)
}

// readRegular reads a file of the folder. Errors: those of openRegular.
func readRegular(path string) ([]byte, error) {
	f, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// digest is the size of a file and its SHA-256 in hexadecimal.
func digest(path string) (int64, string, error) {
	f, err := openRegular(path)
	if err != nil {
		return 0, "", err
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(h, f)
	return n, hex.EncodeToString(h.Sum(nil)), err
}

// checkSignature checks who signed the manifest, where anybody did.
func (v *verifier) checkSignature(context.Context) (string, error) {
	text, err := readRegular(v.path(signatureFile))
	if errors.Is(err, errMissing) {
		if !v.trust.IsZero() {
			return "", wrongf(signatureFile, "is missing: the release is not signed, so %s tells nothing about it; ask the office for the signed one", v.options.Trust)
		}
		return "", &notDone{"the release is not signed, so whoever can write in this folder may have written all of it"}
	}
	if errors.Is(err, errNoFile) {
		return "", wrongf(signatureFile, "is not a file")
	}
	if err != nil {
		return "", err
	}
	var s manifestSignature
	if err := json.Unmarshal(text, &s); err != nil {
		return "", wrongf(signatureFile, "cannot be read: %v", err)
	}
	if again, err := indented(s); err != nil || !bytes.Equal(again, text) {
		return "", wrongf(signatureFile, "is not in the form in which it is written: it was edited")
	}
	if !v.trust.IsZero() && s.Signer != v.trust {
		return "", wrongf(signatureFile, "is by the key with the fingerprint %s, not by the one in %s (%s)", s.Signer.Fingerprint(), v.options.Trust, v.trust.Fingerprint())
	}
	if v.text == nil {
		return "", &notDone{"needs a manifest"}
	}
	if err := s.Signer.Verify(manifestPurpose, v.text, s.Signature); err != nil {
		return "", wrongf(signatureFile, "does not fit manifest.json: %v; one of the two was changed", err)
	}
	v.signer = s.Signer
	v.out.Signed = append(v.out.Signed, fmt.Sprintf("manifest.json, and with it every file: by the key with the fingerprint %s, %s", s.Signer.Fingerprint(), v.compare()))
	return "of the manifest, by the key with the fingerprint " + s.Signer.Fingerprint(), nil
}

// compare says what a reader does with the office's fingerprint.
func (v *verifier) compare() string {
	if v.trust.IsZero() {
		return "which this folder itself names: compare it with the office's"
	}
	return "the one in " + v.options.Trust
}
