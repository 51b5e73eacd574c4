package verdict

// This file rephrases the operating system's errors about files so that a person can act on them.

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/dprelease/dprelease/internal/regular"
)

// InWords returns the text of an error with the system's words about a file replaced by what is wrong with the file
// and what to do.
func InWords(err error) string {
	text := err.Error()
	for _, e := range systemErrors(err) {
		said := e.Error()
		path, words := explain(e)
		if words == "" {
			continue
		}
		text = strings.ReplaceAll(text, path+": "+said, said) // the path is named once
		text = strings.ReplaceAll(text, said, path+": "+words)
	}
	return text
}

// systemErrors returns the errors of the system in the tree of an error.
func systemErrors(err error) (all []error) {
	switch e := err.(type) {
	case *fs.PathError, *os.LinkError:
		return []error{e}
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			all = append(all, systemErrors(inner)...)
		}
	case interface{ Unwrap() error }:
		return systemErrors(e.Unwrap())
	}
	return all
}

const aFolder = "this is a folder, and a file is needed here; give the path of a file"

// explain returns the file that an error of the system is about, and what is wrong with it; "" if the system's words
// are best.
func explain(err error) (path, words string) {
	var onPath *fs.PathError
	var onLink *os.LinkError
	switch {
	case errors.As(err, &onPath):
		path = onPath.Path
	case errors.As(err, &onLink):
		path = onLink.New
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		words = "there is no such file or folder; check the path"
	case errors.Is(err, syscall.ENOTDIR):
		path, words = fileWithin(path), "this is a file, and a folder is needed here; give another path"
	case errors.Is(err, syscall.EISDIR):
		words = aFolder
	case errors.Is(err, regular.ErrNotRegular):
		words = "this is not a regular file; give the path of one"
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			words = aFolder
		}
	case errors.Is(err, fs.ErrExist):
		words = "this name is taken; choose another, or move away what has it"
	case errors.Is(err, fs.ErrPermission):
		words = "permission denied; check who may read it, or write in its folder"
	case errors.Is(err, syscall.EROFS):
		words = "the disk is read-only; choose another folder"
	case errors.Is(err, syscall.ENAMETOOLONG):
		words = "the name is too long; choose a shorter one"
	}
	return path, words
}

// fileWithin returns the first part of a path that exists and is not a folder, or the path itself if there is none.
func fileWithin(path string) string {
	for at := filepath.Clean(path); ; at = filepath.Dir(at) {
		if info, err := os.Stat(at); err == nil && !info.IsDir() {
			return at
		}
		if parent := filepath.Dir(at); parent == at {
			return path
		}
	}
}
