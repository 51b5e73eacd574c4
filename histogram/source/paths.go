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

// This file holds the way from the globs of a spec to the files they match, in reading order.

// expandGlobs returns the files that the globs match, sorted by path. Relative globs start from dir. Every glob must
// match a file, no file may be matched twice (by two globs, a symbolic or a hard link), and folders are refused.
func expandGlobs(dir string, globs []string) ([]string, error) {
	var paths []string
	for _, glob := range globs {
		found, err := matchGlob(dir, glob)
		if err != nil {
			return nil, err
		}
		paths = append(paths, found...)
	}
	slices.Sort(paths)
	if err := checkDistinct(paths); err != nil {
		return nil, err
	}
	return paths, nil
}

// Files returns the files of a table, sorted by path. Relative paths start from the folder dir. It opens no file.
// Errors are *[Error]: a path that matches no file, or anything other than files.
func Files(dir string, t spec.TableSource) ([]string, error) { return expandGlobs(dir, t.Paths) }

// matchGlob returns the paths that one glob matches. The data folder is taken literally, whatever characters its name
// holds.
func matchGlob(dir, glob string) ([]string, error) {
	found, err := files.Glob(dir, glob)
	if err != nil {
		return nil, &Error{Kind: Missing, File: glob, Err: err,
			Message: "the pattern is not a valid glob; close every ["}
	}
	if len(found) == 0 {
		return nil, &Error{Kind: Missing, File: glob, Err: fs.ErrNotExist,
			Message: fmt.Sprintf("no such file, starting from the folder %s; check the path in the spec, or where "+
				"relative paths start (--data)", dir)}
	}
	return found, nil
}

// relativePath returns path relative to the folder dir, or path itself if it lies elsewhere.
func relativePath(dir, path string) string {
	if rel, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}

// checkDistinct refuses folders, and two paths that lead to one file.
func checkDistinct(paths []string) error {
	type named struct {
		path string
		info os.FileInfo
	}
	files := make([]named, 0, len(paths))
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return unreadableFile(path, err)
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
					"is the same file as %s; each row must be read once, so remove the link or narrow the globs",
					a.path)}
			}
		}
	}
	return nil
}

// unreadableFile wraps an error of the system.
func unreadableFile(path string, err error) *Error {
	kind, message := Unreadable, "cannot be read; check its permissions and its disk"
	if errors.Is(err, fs.ErrNotExist) {
		kind, message = Missing, "no such file; check the path in the spec and the data folder"
	}
	return &Error{Kind: kind, File: path, Message: message, Detail: err.Error(), Err: err}
}
