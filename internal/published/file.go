package published

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/dprelease/dprelease/internal/regular"
)

// This file reads the files of a published folder, which anybody may have written.

// The documents of a release. Its tables, measurements and microdata are named by the plan.
const (
	ManifestFile  = "manifest.json"
	SignatureFile = "manifest.sig"
	// ProofFile holds the debit as the ledger records it.
	ProofFile = "ledger-proof.json"
	// ReportFile holds the report as data, from which its pages are rendered.
	ReportFile = "report.json"
	// ApprovalsFile holds the approvals of a release.
	ApprovalsFile = "approvals.json"
	// BillFile holds the bill of materials of a release, in CycloneDX.
	BillFile = "sbom.cdx.json"
)

// Fault reports what is wrong with a file.
type Fault struct{ File, Says string }

func (e *Fault) Error() string { return e.File + ": " + e.Says }

// Faultf returns a *[Fault] of a file.
func Faultf(file, format string, args ...any) error {
	return &Fault{file, fmt.Sprintf(format, args...)}
}

// errNoFolder reports a path that leads to nothing or to a file.
var errNoFolder = errors.New("there is no folder in this place")

// Resolve returns the folder that a path leads to through links: a walk does not enter a link that it begins at.
func Resolve(place string) (string, error) {
	folder, err := filepath.EvalSymlinks(place)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return "", errNoFolder
	}
	if err != nil {
		return "", err
	}
	if info, err := os.Stat(folder); err != nil {
		return "", err
	} else if !info.IsDir() {
		return "", errNoFolder
	}
	return folder, nil
}

// notListed is the text about a file whose content differs from the manifest.
const notListed = "is not the file that manifest.json lists: its SHA-256 differs"

// CheckFile hashes a file and compares it with its line of the manifest. Errors: *[Fault].
func CheckFile(path string, line Line) error {
	size, sum, err := fileDigest(path)
	if err == nil && (sum != line.SHA256 || size != line.Bytes) {
		err = &Fault{line.Path, notListed}
	}
	return readFault(line, err)
}

// checkSize compares the size of a file with its line of the manifest without reading the file. Errors: *[Fault].
func checkSize(path string, line Line) error {
	info, err := os.Lstat(path)
	switch {
	case Missing(err):
		err = ErrMissing
	case err == nil && !info.Mode().IsRegular():
		err = ErrNotFile
	case err == nil && info.Size() != line.Bytes:
		err = Faultf(line.Path, "is not the file that manifest.json lists: it has another size")
	}
	return readFault(line, err)
}

// readFault returns the fault of a listed file that cannot be opened.
func readFault(line Line, err error) error {
	switch {
	case errors.Is(err, ErrMissing):
		return Faultf(line.Path, "is missing")
	case errors.Is(err, ErrNotFile):
		return Faultf(line.Path, "is not a file")
	}
	return err
}

var (
	ErrMissing = errors.New("there is no such file")
	ErrNotFile = errors.New("not a regular file")
)

// Missing reports whether an error means that a file does not exist, and not that it could not be read.
func Missing(err error) bool {
	return errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ENAMETOOLONG)
}

// mostFile is the greatest size, in bytes, of a file that is read into memory.
const mostFile = 1 << 30

// openRegular opens a file of the folder. Anything but a regular file is never opened: a pipe would not end, and a
// link leads elsewhere. Errors: [ErrMissing], [ErrNotFile].
func openRegular(path string) (*os.File, error) {
	f, err := regular.OpenUnlinked(path)
	switch {
	case Missing(err):
		return nil, ErrMissing
	case errors.Is(err, regular.ErrNotRegular):
		return nil, ErrNotFile
	}
	return f, err
}

// ReadFile reads a file of a folder that anybody may have written. It follows no link. Errors: [ErrMissing],
// [ErrNotFile].
func ReadFile(path string) ([]byte, error) {
	f, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return regular.ReadAll(f, mostFile)
}

// fileDigest returns the size of a file and its SHA-256 in hexadecimal.
func fileDigest(path string) (int64, string, error) {
	f, err := openRegular(path)
	if err != nil {
		return 0, "", err
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(h, f)
	return n, hex.EncodeToString(h.Sum(nil)), err
}

// Files lists the regular files below a folder, slash-separated, in order.
func Files(dir string) ([]string, error) {
	var all []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		all = append(all, filepath.ToSlash(rel))
		return err
	})
	return all, err
}

// EqualFiles reports whether our own file a equals b, a file of a folder that anybody may have written, which may be
// missing.
func EqualFiles(a, b string) (bool, error) {
	y, err := ReadFile(b)
	if errors.Is(err, ErrMissing) || errors.Is(err, ErrNotFile) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	x, err := os.ReadFile(a)
	return bytes.Equal(x, y), err
}
