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
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"unicode"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/internal/regular"
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
	m, err := parseManifest(text)
	if other := new(otherFormat); errors.As(err, &other) {
		return "", wrongf(manifestFile, "%v: verify the release with the version that published it", other)
	}
	if err != nil {
		return "", err
	}
	v.manifest, v.text = m, text
	v.out.Release, v.out.Marked, v.out.Revision = m.Release, m.Status, m.Revision
	return fmt.Sprintf("lists %s of release %s, published by %s", budget.Plural(int64(len(m.Files)), "file"), m.Release, m.Software), nil
}

// otherFormat is the format of a manifest that another version wrote.
type otherFormat struct{ format string }

func (e *otherFormat) Error() string {
	return fmt.Sprintf("has format %q, expected %q", e.format, manifestFormat)
}

// parseManifest reads a manifest, and only in the form in which it is written. Errors: *otherFormat, *wrong.
func parseManifest(text []byte) (m manifest, err error) {
	if err := json.Unmarshal(text, &m); err != nil {
		return m, wrongf(manifestFile, "cannot be read: %v", err)
	}
	if m.Format != manifestFormat {
		return m, &otherFormat{m.Format}
	}
	if again, err := indented(m); err != nil || !bytes.Equal(again, text) {
		return m, wrongf(manifestFile, "is not in the form in which it is written: it was edited")
	}
	if err := m.formed(); err != nil {
		return m, wrongf(manifestFile, "%v", err)
	}
	if !slices.IsSortedFunc(m.Files, func(a, b manifestLine) int { return strings.Compare(inOrder(a.Path), inOrder(b.Path)) }) {
		return m, wrongf(manifestFile, "does not list its files in order")
	}
	for i, line := range m.Files {
		switch {
		case line.Path == manifestFile || line.Path == signatureFile || !filepath.IsLocal(filepath.FromSlash(line.Path)) || path.Clean(line.Path) != line.Path ||
			strings.Contains(line.Path, `\`) || strings.ContainsFunc(line.Path, unseen):
			return m, wrongf(manifestFile, "lists %q, which is no file of a release", line.Path)
		case i > 0 && line.Path == m.Files[i-1].Path:
			return m, wrongf(manifestFile, "lists %s twice", line.Path)
		}
	}
	return m, nil
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
	for _, line := range v.manifest.Files {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		err := hashed(v.path(line.Path), line)
		if bad := new(wrong); errors.As(err, &bad) {
			fault(bad.file, bad.says)
		} else if err != nil {
			return "", err
		}
	}
	err := v.manifest.strangers(v.place, func(name, says string) error {
		fault(name, says)
		return nil
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

// notListed is said of a file that has another content than the manifest lists.
const notListed = "is not the file that manifest.json lists: its SHA-256 differs"

// hashed hashes a file and compares it with its line of the manifest. Errors: *wrong.
func hashed(path string, line manifestLine) error {
	size, sum, err := digest(path)
	if err == nil && (sum != line.SHA256 || size != line.Bytes) {
		err = &wrong{line.Path, notListed}
	}
	return unread(line, err)
}

// sized compares the size of a file, unread, with its line of the manifest. Errors: *wrong.
func sized(path string, line manifestLine) error {
	info, err := os.Lstat(path)
	switch {
	case missing(err):
		err = errMissing
	case err == nil && !info.Mode().IsRegular():
		err = errNoFile
	case err == nil && info.Size() != line.Bytes:
		err = wrongf(line.Path, "is not the file that manifest.json lists: it has another size")
	}
	return unread(line, err)
}

// unread says what is wrong with a listed file that cannot be opened.
func unread(line manifestLine, err error) error {
	switch {
	case errors.Is(err, errMissing):
		return wrongf(line.Path, "is missing")
	case errors.Is(err, errNoFile):
		return wrongf(line.Path, "is not a file")
	}
	return err
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
	f, err := regular.OpenUnlinked(path)
	switch {
	case missing(err):
		return nil, errMissing
	case errors.Is(err, regular.ErrNotRegular):
		return nil, errNoFile
	}
	return f, err
}

// readRegular reads a file of the folder. Errors: those of openRegular.
func readRegular(path string) ([]byte, error) {
	f, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return regular.ReadAll(f, mostPlan)
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
	if v.text == nil {
		return "", &notDone{"needs a manifest"}
	}
	s, err := parseSignature(text, v.text)
	if !v.trust.IsZero() && !s.Signer.IsZero() && s.Signer != v.trust {
		return "", wrongf(signatureFile, "is by the key with the fingerprint %s, not by the one in %s (%s)", s.Signer.Fingerprint(), v.options.Trust, v.trust.Fingerprint())
	}
	if err != nil {
		return "", err
	}
	v.signer = s.Signer
	v.out.Signed = append(v.out.Signed, fmt.Sprintf("manifest.json, and with it every file: by the key with the fingerprint %s, %s", s.Signer.Fingerprint(), v.compare()))
	return "of the manifest, by the key with the fingerprint " + s.Signer.Fingerprint(), nil
}

// parseSignature reads the signature of a manifest and checks it. With an error it returns what it could read. Errors: *wrong.
func parseSignature(text, manifest []byte) (s manifestSignature, err error) {
	if err := json.Unmarshal(text, &s); err != nil {
		return manifestSignature{}, wrongf(signatureFile, "cannot be read: %v", err)
	}
	if again, err := indented(s); err != nil || !bytes.Equal(again, text) {
		return manifestSignature{}, wrongf(signatureFile, "is not in the form in which it is written: it was edited")
	}
	if err := s.Signer.Verify(manifestPurpose, manifest, s.Signature); err != nil {
		return s, wrongf(signatureFile, "does not fit manifest.json: %v; one of the two was changed", err)
	}
	return s, nil
}

// compare says what a reader does with the office's fingerprint.
func (v *verifier) compare() string {
	if v.trust.IsZero() {
		return "which this folder itself names: compare it with the office's"
	}
	return "the one in " + v.options.Trust
}
