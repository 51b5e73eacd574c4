package files

// This file recognises state directories, in which releases keep confidential data, so that no file in one is taken for
// a public file, whatever the directory is called and wherever it is.

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

	"github.com/dprelease/dprelease/internal/regular"
)

// Files in a state directory.
const (
	StateSources  = "sources.json" // the record of the confidential files that were counted
	StatePractice = "practice.db"  // the ledger of practice
)

// StateName matches the name of a folder with the state of one release: the release, the plan and the payer.
var StateName = regexp.MustCompile(`^(.+)-[0-9a-f]{16}-[0-9a-f]{16}$`)

// stateRecord matches the beginning of the record of confidential files, which is its key. Other programs also write
// files of that name.
var stateRecord = regexp.MustCompile(`^\{"key":"[A-Za-z0-9+/]{43}=","releases":`)

// isInState reports whether a resolved path leads into a state directory.
func isInState(path string) (bool, error) {
	for folder := filepath.Dir(path); ; folder = filepath.Dir(folder) {
		if StateName.MatchString(filepath.Base(folder)) {
			return true, nil
		}
		if state, err := isState(folder); state || err != nil {
			return state, err
		}
		if folder == filepath.Dir(folder) {
			return false, nil
		}
	}
}

// isState reports whether a folder contains the files of a state directory. A folder in which this user may look up
// nothing is not the user's state directory.
func isState(folder string) (bool, error) {
	if _, err := os.Lstat(filepath.Join(folder, StatePractice)); err == nil {
		return true, nil
	}
	f, err := regular.Open(filepath.Join(folder, StateSources))
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, regular.ErrNotRegular):
		return false, nil
	case errors.Is(err, fs.ErrPermission):
		_, seen := os.Lstat(filepath.Join(folder, StateSources))
		return seen == nil, nil // it exists, and this user may not read it
	case err != nil:
		return false, err
	}
	defer f.Close()
	start := make([]byte, 128)
	n, err := f.ReadAt(start, 0)
	if errors.Is(err, io.EOF) {
		err = nil // a shorter file
	}
	return stateRecord.Match(start[:n]), err
}
