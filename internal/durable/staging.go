package durable

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Staging is a hidden folder beside a place, in which what will be there is made.
type Staging struct {
	Dir   string   // .NAME.tmp-*
	Place string   // NAME
	held  *os.File // keeps the folder from being cleared by others; nil where that is not done
}

// Stage opens a staging folder for the output out/name, and clears those that crashed runs have left.
func Stage(out, name string) (*Staging, error) {
	if err := MakeFolder(out, 0o755); err != nil {
		return nil, fmt.Errorf("output folder: %w", err)
	}
	clearStale(out, name)
	dir, err := os.MkdirTemp(out, "."+name+".tmp-*")
	if err != nil {
		return nil, fmt.Errorf("output folder: %w", err)
	}
	s := &Staging{Dir: dir, Place: filepath.Join(out, name)}
	if s.held, err = Hold(dir); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		s.Discard()
		return nil, fmt.Errorf("output folder: %w", err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		s.Discard()
		return nil, fmt.Errorf("output folder: %w", err)
	}
	return s, nil
}

// Discard ends the staging: what was not moved to its place is removed.
func (s *Staging) Discard() {
	os.RemoveAll(s.Dir)
	if s.held != nil {
		s.held.Close()
	}
}

// Lend moves one file of the staging folder, which it makes durable, to a path.
func (s *Staging) Lend(name, path string) error {
	made := filepath.Join(s.Dir, name)
	if err := SyncFile(made); err != nil {
		return err
	}
	if err := os.Rename(made, path); err != nil {
		return err
	}
	return SyncDir(filepath.Dir(path))
}

// clearStale removes staging folders whose makers are gone. One that cannot be
// removed does no harm, so errors are left alone.
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
		if held, err := Hold(dir); err == nil {
			os.RemoveAll(dir)
			held.Close()
		}
	}
}

// SyncFile makes what a file holds durable.
func SyncFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0) // Windows syncs no file that is open for reading alone
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// ReplaceFile writes the file out/name durably, whole or not at all.
func ReplaceFile(out, name string, b []byte) error {
	s, err := Stage(out, name)
	if err != nil {
		return err
	}
	defer s.Discard()
	if err := os.WriteFile(filepath.Join(s.Dir, name), b, 0o644); err != nil {
		return err
	}
	return s.Lend(name, s.Place)
}
