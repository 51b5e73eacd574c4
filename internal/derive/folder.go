package derive

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/dprelease/dprelease/internal/published"
	"golang.org/x/sync/errgroup"
)

// This file holds a folder in the making, whose files are written concurrently and listed.

// Folder is a folder in the making: its files are written concurrently, and each is listed with its SHA-256.
type Folder struct {
	Dir string

	writing errgroup.Group   // the writes in progress
	lines   []published.Line // of every file, in the order of the calls to Write
}

// NewFolder returns a Folder for an existing directory, with nothing listed yet.
func NewFolder(dir string) *Folder {
	f := &Folder{Dir: dir}
	f.writing.SetLimit(writtenAtOnce)
	return f
}

// writtenAtOnce bounds the files that are written at the same time, while the next ones are computed.
const writtenAtOnce = 4

// Write puts a file, at a slash-separated path, into the folder. [Folder.Wait] waits for the write and returns its
// error; the file is durable once the folder is committed. b must not change before Wait returns.
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

// Wait waits for the files that are being written.
func (f *Folder) Wait() error { return f.writing.Wait() }
