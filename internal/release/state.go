package release

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/dprelease/dprelease/budget/ledger"
	"github.com/dprelease/dprelease/internal/durable"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/spec/files"
)

// state is the confidential working state of one plan's measurement: its key,
// from before the count until the measurements are durable, the journal of its
// adaptive rounds, and what was wrong with refused data. It lives in a folder that only its owner can enter, and is
// open in one process at a time.
type state struct {
	dir  string
	held *os.File // the lock; nil where the system has none
}

const (
	keyFile     = "key"
	journalFile = "journal"
	// What may be left of keys that were being made or erased when a run was
	// killed. Neither name is ever read as a key.
	makingKey  = "key.making-"
	erasingKey = "key.erasing-"
)

// stateName is the folder, within the state directory, of one plan's state on one
// account of one ledger: a release in practice, or on another ledger, shares no
// key with it.
func stateName(ledgerIdentity string, c ledger.Charge) string {
	payer := sha256.Sum256([]byte(ledgerIdentity + "\x00" + c.Account))
	return c.Release + "-" + c.PlanHash[:16] + "-" + hex.EncodeToString(payer[:8])
}

// openState opens a state below the state directory, waiting for another process
// that has it open. It refuses a folder that others could have written to or can
// read.
func openState(ctx context.Context, root, name string) (*state, error) {
	s := &state{dir: filepath.Join(root, name)}
	for {
		for _, dir := range []string{root, s.dir} {
			if err := durable.MakeFolder(dir, 0o700); err != nil {
				return nil, fmt.Errorf("state directory: %w", err)
			}
			if err := durable.Private(dir); err != nil {
				return nil, fmt.Errorf("state directory: %w", err)
			}
		}
		held, err := holdWaiting(ctx, s.dir)
		switch {
		case errors.Is(err, fs.ErrNotExist): // it was cleared by another process just now
			continue
		case err != nil && ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil:
			return nil, fmt.Errorf("state directory: %w", err)
		case held == nil || samePlace(held, s.dir):
			s.held = held
			return s, nil
		}
		held.Close() // it was cleared by the process we waited for
	}
}

// holdWaiting locks a folder, waiting for another process that has it; nil where the system has no such locks.
func holdWaiting(ctx context.Context, dir string) (*os.File, error) {
	for {
		held, err := durable.Hold(dir)
		switch {
		case errors.Is(err, errors.ErrUnsupported):
			return nil, nil
		case !errors.Is(err, durable.ErrHeld):
			return held, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// close lets other processes open the state.
func (s *state) close() {
	if s.held != nil {
		s.held.Close()
	}
}

// samePlace tells whether an open folder is still the one at a path.
func samePlace(open *os.File, path string) bool {
	a, err := open.Stat()
	if err != nil {
		return false
	}
	b, err := os.Stat(path)
	return err == nil && os.SameFile(a, b)
}

// newKey draws a key and, if it is to be kept, makes it durable before it is used. A
// key that an earlier run left is erased first, and a journal removed: nothing was
// debited for them.
func (s *state) newKey(keep bool) (key noise.Key, err error) {
	if err := s.erase(); err != nil {
		return key, err
	}
	if err := s.removeJournal(); err != nil {
		return key, err
	}
	if key, err = noise.NewKey(); err != nil || !keep {
		return key, err
	}
	err = durable.WritePrivate(s.dir, makingKey, keyFile, func(w io.Writer) error {
		_, err := w.Write(key[:])
		return err
	})
	if err != nil {
		return key, fmt.Errorf("state directory: %w", err)
	}
	return key, nil
}

// oldKey is the key that a run which was cut off after its debit has left, and
// whether there is one that could be: a key that is damaged or all zeros is none.
// That it is the one debited for, the ledger tells.
func (s *state) oldKey() (key noise.Key, there bool, err error) {
	b, err := os.ReadFile(filepath.Join(s.dir, keyFile))
	if errors.Is(err, fs.ErrNotExist) {
		return key, false, nil
	}
	if err != nil {
		return key, false, fmt.Errorf("state directory: %w", err)
	}
	defer clear(b)
	if len(b) != len(key) {
		return key, false, nil
	}
	copy(key[:], b)
	return key, key != noise.Key{}, nil
}

// erase overwrites and removes every key of the state. A key first takes a name
// under which it is never read, durably, so that no crash leaves zeros, or half
// a key, to be taken for one. Its journal goes with it, and never without it: a key
// that somebody puts back finds the rounds that it was used for.
func (s *state) erase() error {
	if err := s.eraseLeft(); err != nil {
		return err
	}
	err := os.Rename(filepath.Join(s.dir, keyFile), filepath.Join(s.dir, erasingKey+"0"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = durable.SyncDir(s.dir)
	}
	if err != nil {
		return fmt.Errorf("erasing the key: %w", err)
	}
	if err := s.eraseLeft(); err != nil {
		return err
	}
	return s.removeJournal()
}

// removeJournal removes the journal of the rounds, where there is one.
func (s *state) removeJournal() error {
	err := os.Remove(s.journalPath())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = durable.SyncDir(s.dir)
	}
	if err != nil {
		return fmt.Errorf("removing the journal: %w", err)
	}
	return nil
}

// journalPath is where the journal of the rounds is kept.
func (s *state) journalPath() string { return filepath.Join(s.dir, journalFile) }

// eraseLeft erases keys under the names that are never read.
func (s *state) eraseLeft() error {
	for _, pattern := range []string{makingKey + "*", erasingKey + "*"} {
		left, err := files.Glob(s.dir, pattern)
		if err != nil {
			return fmt.Errorf("erasing the key: %w", err)
		}
		for _, path := range left {
			if err := eraseFile(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("erasing the key: %w", err)
			}
		}
	}
	return durable.SyncDir(s.dir)
}

// clear ends the state: the release is sealed, and nothing of it is needed again.
func (s *state) clear() error {
	if err := s.erase(); err != nil {
		return err
	}
	if err := os.RemoveAll(s.dir); err != nil {
		return fmt.Errorf("clearing the state: %w", err)
	}
	return durable.SyncDir(filepath.Dir(s.dir))
}

// eraseFile overwrites a key file with zeros and removes it.
func eraseFile(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(make([]byte, len(noise.Key{})))
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Remove(path)
}

// clearSiblings removes what earlier plans of a sealed release have left in the
// state directory: the diagnostics of refused data. A state with a key belongs to
// a run that may resume, and one that is open to a run under way: they stay.
func clearSiblings(root, release string) error {
	all, err := os.ReadDir(root)
	if err != nil {
		return fmt.Errorf("state directory: %w", err)
	}
	for _, d := range all {
		name := files.StateName.FindStringSubmatch(d.Name())
		if name == nil || name[1] != release || !d.IsDir() {
			continue
		}
		dir := filepath.Join(root, d.Name())
		held, err := durable.Hold(dir)
		if err != nil && !errors.Is(err, errors.ErrUnsupported) {
			continue
		}
		if keyed, err := durable.Exists(filepath.Join(dir, keyFile)); err == nil && !keyed {
			err = os.RemoveAll(dir)
			if err != nil {
				return fmt.Errorf("clearing the state: %w", err)
			}
		}
		if held != nil {
			held.Close()
		}
	}
	return nil
}
