package release

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/dprelease/dprelease/internal/derive"
	"github.com/dprelease/dprelease/internal/durable"
	"golang.org/x/sync/errgroup"
)

// staging is an output folder in the making: built beside its place under a
// hidden name, then synced and renamed once, so that the place holds all of it
// or nothing.
type staging struct {
	*derive.Folder          // .NAME.tmp-*
	place          string   // NAME
	held           *os.File // keeps the folder from being cleared by others; nil where that is not done
}

// stage opens a staging folder for the output folder out/name, and clears those
// that crashed runs have left.
func stage(out, name string) (*staging, error) {
	if err := durable.MakeFolder(out, 0o755); err != nil {
		return nil, fmt.Errorf("output folder: %w", err)
	}
	clearStale(out, name)
	dir, err := os.MkdirTemp(out, "."+name+".tmp-*")
	if err != nil {
		return nil, fmt.Errorf("output folder: %w", err)
	}
	s := &staging{Folder: derive.NewFolder(dir), place: filepath.Join(out, name)}
	if s.held, err = durable.Hold(dir); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		s.discard()
		return nil, fmt.Errorf("output folder: %w", err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		s.discard()
		return nil, fmt.Errorf("output folder: %w", err)
	}
	return s, nil
}

// syncedAtOnce is how many files are synced at the same time: a disk makes many durable in about the time of one.
const syncedAtOnce = 16

// commit syncs the staging folder, all of its files before their names, and renames it to its place.
func (s *staging) commit() error {
	if err := s.Settle(); err != nil {
		return err
	}
	var syncing errgroup.Group
	syncing.SetLimit(syncedAtOnce)
	var folders []string
	err := filepath.WalkDir(s.Dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			folders = append(folders, path)
		default:
			syncing.Go(func() error { return syncFile(path) })
		}
		return nil
	})
	err = errors.Join(err, syncing.Wait())
	for _, dir := range folders {
		err = errors.Join(err, durable.SyncDir(dir))
	}
	if err != nil {
		return fmt.Errorf("syncing %s: %w", s.place, err)
	}
	if err := os.Rename(s.Dir, s.place); err != nil {
		return fmt.Errorf("moving the finished %s into place: %w", s.place, err)
	}
	return durable.SyncDir(filepath.Dir(s.place))
}

// lend moves one file of the staging folder into the place, which is there already.
func (s *staging) lend(name string) error {
	if err := syncFile(filepath.Join(s.Dir, name)); err != nil {
		return err
	}
	if err := os.Rename(filepath.Join(s.Dir, name), filepath.Join(s.place, name)); err != nil {
		return err
	}
	return durable.SyncDir(s.place)
}

// discard ends the staging: what was not committed is removed.
func (s *staging) discard() {
	_ = s.Settle() // whoever committed it knows its error
	os.RemoveAll(s.Dir)
	if s.held != nil {
		s.held.Close()
	}
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
		if held, err := durable.Hold(dir); err == nil {
			os.RemoveAll(dir)
			held.Close()
		}
	}
}

// ballast checks that n bytes can be written into a folder, by writing and removing
// them: a full disk is found before anything is spent.
func ballast(dir string, n int64) error {
	path := filepath.Join(dir, "ballast")
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("checking for space: %w", err)
	}
	defer os.Remove(path)
	defer f.Close()
	block := make([]byte, 1<<20)
	for n > 0 {
		k, err := f.Write(block[:min(n, int64(len(block)))])
		if err != nil {
			return fmt.Errorf("not enough space for the measurements (%s): make room and run again", errors.Unwrap(err))
		}
		n -= int64(k)
	}
	return f.Sync()
}

// syncFile makes what a file holds durable.
func syncFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0) // Windows syncs no file that is open for reading alone
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// replaceFile writes the file out/name, through a staging folder of its own.
func replaceFile(out, name string, b []byte) error {
	s, err := stage(out, name)
	if err != nil {
		return err
	}
	defer s.discard()
	if err := errors.Join(s.Write(name, b), s.Settle(), syncFile(filepath.Join(s.Dir, name))); err != nil {
		return err
	}
	if err := os.Rename(filepath.Join(s.Dir, name), s.place); err != nil {
		return err
	}
	return durable.SyncDir(out)
}
