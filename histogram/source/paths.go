package source

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/files"
)

// This file holds the way from the globs of a spec to the files they reach, in reading order.

// expand returns the files that the globs reach, sorted by path. Relative globs
// start from dir. Every glob must reach a file, no file may be reached twice
// (by two globs, a symbolic or a hard link), and folders are refused.
func expand(dir string, globs []string) ([]string, error) {
	var paths []string
	for _, glob := range globs {
		found, err := match(dir, glob)
		if err != nil {
			return nil, err
		}
		paths = append(paths, found...)
	}
	slices.Sort(paths)
	if err := distinct(paths); err != nil {
		return nil, err
	}
	return paths, nil
}

// Files returns the files that a table is read from, sorted by path; relative paths start from the folder dir. It opens
// none. Errors are *[Error]: a path that reaches no file, or anything but files.
func Files(dir string, t spec.TableSource) ([]string, error) { return expand(dir, t.Paths) }

// match returns the paths that one glob reaches. The data folder is taken as it
// is, whatever characters its name holds.
func match(dir, glob string) ([]string, error) {
	found, err := files.Glob(dir, glob)
	if err != nil {
		return nil, &Error{Kind: Missing, File: glob, Err: err,
			Message: "the pattern is not a valid glob; close every ["}
	}
	if len(found) == 0 {
		return nil, &Error{Kind: Missing, File: glob, Err: fs.ErrNotExist,
			Message: fmt.Sprintf("no such file, starting from the folder %s; check the path in the spec, or where relative paths start (--data)", dir)}
	}
	return found, nil
}

// within is a path as seen from the folder dir, or itself where it lies elsewhere.
func within(dir, path string) string {
	if rel, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}

// distinct refuses folders and a file that two of the paths lead to.
func distinct(paths []string) error {
	type named struct {
		path string
		info os.FileInfo
	}
	files := make([]named, 0, len(paths))
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return unreadable(path, err)
		}
		if !info.Mode().IsRegular() {
			return &Error{Kind: Missing, File: path,
				Message: "is not a regular file; name the files themselves, such as folder/*.parquet"}
		}
		files = append(files, named{path, info})
	}
	// Links to one file have equal sizes and times, so only such files are compared.
	slices.SortStableFunc(files, func(a, b named) int {
		return cmp.Or(cmp.Compare(a.info.Size(), b.info.Size()), a.info.ModTime().Compare(b.info.ModTime()))
	})
	for i, a := range files {
		for _, b := range files[i+1:] {
			if a.info.Size() != b.info.Size() || !a.info.ModTime().Equal(b.info.ModTime()) {
				break
			}
			if os.SameFile(a.info, b.info) {
				return &Error{Kind: Duplicate, File: b.path, Message: fmt.Sprintf(
					"is the same file as %s; each row must be read once, so remove the link or narrow the globs", a.path)}
			}
		}
	}
	return nil
}

// unreadable wraps an error of the system.
func unreadable(path string, err error) *Error {
	kind, message := Unreadable, "cannot be read; check its permissions and its disk"
	if errors.Is(err, fs.ErrNotExist) {
		kind, message = Missing, "no such file; check the path in the spec and the data folder"
	}
	return &Error{Kind: kind, File: path, Message: message, Detail: err.Error(), Err: err}
}
