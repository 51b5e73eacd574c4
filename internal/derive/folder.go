package derive

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/dprelease/dprelease/internal/progress"
	"github.com/dprelease/dprelease/internal/published"
	"golang.org/x/sync/errgroup"
)

// This file holds the folder in the making: files that are written at the same time, and listed.

// Folder is a folder in the making: its files are written at the same time, and each is listed with its SHA-256.
type Folder struct {
	Dir string

	writing errgroup.Group   // of the files that are being written
	lines   []published.Line // of every file, in the order of writing

	Progress func(progress.Progress)          // is told how far a release is written; nil: nobody
	Step     func(format string, args ...any) // is told which step begins; nil: nobody
}

// NewFolder returns a folder that is there, in which nothing is listed yet.
func NewFolder(dir string) *Folder {
	f := &Folder{Dir: dir}
	f.writing.SetLimit(writtenAtOnce)
	return f
}

// writtenAtOnce is how many files are written at the same time, while the next ones are made.
const writtenAtOnce = 4

// Write puts a file, at a slash-separated path, into the folder. It is there, and its error is told, once the
// folder is settled, and durable once it is committed; until then b may not change.
func (f *Folder) Write(name string, b []byte) error {
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		return fmt.Errorf("%q would be written outside the release", name)
	}
	path := filepath.Join(f.Dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if slices.ContainsFunc(f.lines, func(l published.Line) bool { return l.Path == name }) {
		return fmt.Errorf("%q would be written twice", name)
	}
	f.lines = append(f.lines, lineOf(name, b))
	f.writing.Go(func() error { return os.WriteFile(path, b, 0o644) })
	return nil
}

// Settle waits for the files that are being written.
func (f *Folder) Settle() error { return f.writing.Wait() }

// begins says which step begins.
func (f *Folder) begins(format string, args ...any) {
	if f.Step != nil {
		f.Step(format, args...)
	}
}
