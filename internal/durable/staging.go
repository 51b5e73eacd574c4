package durable

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Staging is a hidden folder next to an output folder, in which the output is built.
type Staging struct {
	Dir    string   // .NAME.tmp-*
	Target string   // NAME
	held   *os.File // the lock that keeps others from removing the folder; nil: none
}

// Stage opens a staging folder for the output out/name, and removes those that crashed runs left.
func Stage(out, name string) (*Staging, error) {
	if err := MakeFolder(out, 0o755); err != nil {
		return nil, fmt.Errorf("output folder: %w", err)
	}
	clearStale(out, name)
	dir, err := os.MkdirTemp(out, "."+name+".tmp-*")
	if err != nil {
		return nil, fmt.Errorf("output folder: %w", err)
	}
	s := &Staging{Dir: dir, Target: filepath.Join(out, name)}
	if s.held, err = Lock(dir); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		s.Discard()
		return nil, fmt.Errorf("output folder: %w", err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		s.Discard()
		return nil, fmt.Errorf("output folder: %w", err)
	}
	return s, nil
}

// Discard removes whatever was not moved to its destination.
func (s *Staging) Discard() {
	os.RemoveAll(s.Dir)
	if s.held != nil {
		s.held.Close()
	}
}

// MoveOut makes one file of the staging folder durable and moves it to a path.
func (s *Staging) MoveOut(name, path string) error {
	made := filepath.Join(s.Dir, name)
	if err := SyncFile(made); err != nil {
		return err
	}
	if err := os.Rename(made, path); err != nil {
		return err
	}
	return SyncDir(filepath.Dir(path))
}

// clearStale removes staging folders of runs that have ended. One that cannot be removed does no harm, so errors are
// ignored.
func clearStale(out, name string) {
	left, err := os.ReadDir(out)
	if err != nil {
		return
	}
	for _, d := range left {
		dir := filepath.Join(out, d.Name())
		if !d.IsDir() || !strings.HasPrefix(d.Name(), "."+name+".tmp-") {
			continue
		}
		if held, err := Lock(dir); err == nil {
			os.RemoveAll(dir)
			held.Close()
		}
	}
}

// SyncFile makes the content of a file durable.
func SyncFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0) // Windows does not sync a file that is open for reading only
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// ReplaceFile writes the file out/name durably, completely or not at all.
func ReplaceFile(out, name string, b []byte) error {
	s, err := Stage(out, name)
	if err != nil {
		return err
	}
	defer s.Discard()
	if err := os.WriteFile(filepath.Join(s.Dir, name), b, 0o644); err != nil {
		return err
	}
	return s.MoveOut(name, s.Target)
}
