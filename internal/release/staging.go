package release

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/dprelease/dprelease/internal/derive"
	"github.com/dprelease/dprelease/internal/durable"
	"golang.org/x/sync/errgroup"
)

// staging is an output folder under construction. It is built next to its destination under a hidden name, synced, and
// renamed once, so that the destination is complete or does not exist.
type staging struct {
	*derive.Folder
	at *durable.Staging
}

// stage opens a staging folder for the output folder out/name and removes those that crashed runs left.
func stage(out, name string) (*staging, error) {
	at, err := durable.Stage(out, name)
	if err != nil {
		return nil, err
	}
	return &staging{Folder: derive.NewFolder(at.Dir), at: at}, nil
}

// syncedAtOnce is how many files are synced concurrently: a disk syncs many files in about the time of one.
const syncedAtOnce = 16

// commit syncs the staging folder, all of its files before their names, and renames it to its destination.
func (s *staging) commit() error {
	if err := s.Wait(); err != nil {
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
			syncing.Go(func() error { return durable.SyncFile(path) })
		}
		return nil
	})
	err = errors.Join(err, syncing.Wait())
	for _, dir := range folders {
		err = errors.Join(err, durable.SyncDir(dir))
	}
	if err != nil {
		return fmt.Errorf("syncing %s: %w", s.at.Target, err)
	}
	if err := os.Rename(s.Dir, s.at.Target); err != nil {
		return fmt.Errorf("moving the finished %s into place: %w", s.at.Target, err)
	}
	return durable.SyncDir(filepath.Dir(s.at.Target))
}

// moveIn moves one file of the staging folder into the destination, which already exists.
func (s *staging) moveIn(name string) error {
	return s.at.MoveOut(name, filepath.Join(s.at.Target, name))
}

// discard removes whatever was not committed.
func (s *staging) discard() {
	_ = s.Wait() // commit has already returned this error
	s.at.Discard()
}

// checkSpace checks that n bytes can be written into a folder by writing and removing them, so that a full disk is
// found before anything is spent.
func checkSpace(dir string, n int64) error {
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
