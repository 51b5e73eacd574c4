package files

// This file holds the marks of a state directory, in which releases keep what is confidential: by them no file in it is
// taken for a public one, whatever the directory is called and wherever it lies.

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

	"github.com/dprelease/dprelease/internal/regular"
)

// What lies in a state directory.
const (
	StateSources  = "sources.json" // the record of the confidential files that were counted
	StatePractice = "practice.db"  // the ledger of practice
)

// StateName is the name of a folder with the state of one release: the release, the plan and who pays.
var StateName = regexp.MustCompile(`^(.+)-[0-9a-f]{16}-[0-9a-f]{16}$`)

// stateRecord is how the record of confidential files begins: with its key. Other programs too write a file of its
// name.
var stateRecord = regexp.MustCompile(`^\{"key":"[A-Za-z0-9+/]{43}=","releases":`)

// inState reports whether a resolved path leads into a state directory.
func inState(path string) (bool, error) {
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

// isState reports whether a folder holds what a state directory holds. A folder in which this user may look nothing up
// is not his.
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
		return seen == nil, nil // it is there, and is kept from this user
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
