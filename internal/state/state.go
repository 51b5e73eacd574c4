// Package state keeps the confidential state of a run: for each plan on each account the noise key, the journal of its
// rounds and the details of refused data, until the measurements are sealed. It makes keys durable before they are
// used, erases them, and removes what no release needs. It knows no step of a release, and not the content of a
// journal.
package state

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

	"github.com/dprelease/dprelease/budget/ledger"
	"github.com/dprelease/dprelease/internal/durable"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/spec/files"
)

// State is the confidential working state of one plan's measurement: its key, from before the count until the
// measurements are durable, the journal of its adaptive rounds, the exact answers of data that may change (enciphered
// under that key), and the details of refused data. It is in a folder
// that only its owner can enter, and is open in one process at a time.
type State struct {
	Dir  string
	held *os.File // the lock; nil: the system has none
}

const (
	KeyFile     = "key"
	JournalFile = "journal"
	AnswersFile = "answers"
	// PreparedFile says for whom a key was made that other machines count by.
	PreparedFile = "prepared"
	// Prefixes of files that may be left of keys that were being made or erased when
	// a run was killed. Files with these names are never read as keys.
	makingKey      = "key.making-"
	erasingKey     = "key.erasing-"
	makingAnswers  = "answers.making-"
	makingPrepared = "prepared.making-"
)

// Name returns the folder, within the state directory, of one plan's state on one account of one ledger. A release in
// practice, or on another ledger, shares no key with it.
func Name(ledgerIdentity string, c ledger.Charge) string {
	payer := sha256.Sum256([]byte(ledgerIdentity + "\x00" + c.Account))
	return c.Release + "-" + c.PlanHash[:16] + "-" + hex.EncodeToString(payer[:8])
}

// Open opens a state below the state directory, waiting for another process that has it open. It refuses a folder that
// others can read or could have written to.
func Open(ctx context.Context, root, name string) (*State, error) {
	s := &State{Dir: filepath.Join(root, name)}
	for {
		for _, dir := range []string{root, s.Dir} {
			if err := durable.MakeFolder(dir, 0o700); err != nil {
				return nil, fmt.Errorf("state directory: %w", err)
			}
			if err := durable.Private(dir); err != nil {
				return nil, fmt.Errorf("state directory: %w", err)
			}
		}
		held, err := durable.LockWaiting(ctx, s.Dir)
		switch {
		case errors.Is(err, fs.ErrNotExist): // another process has just removed it
			continue
		case err != nil && ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil:
			return nil, fmt.Errorf("state directory: %w", err)
		case held == nil || isSameFolder(held, s.Dir):
			s.held = held
			return s, nil
		}
		held.Close() // the process that held it has removed it
	}
}

// Close lets other processes open the state.
func (s *State) Close() {
	if s.held != nil {
		s.held.Close()
	}
}

// isSameFolder reports whether an open folder is still the one at a path.
func isSameFolder(open *os.File, path string) bool {
	a, err := open.Stat()
	if err != nil {
		return false
	}
	b, err := os.Stat(path)
	return err == nil && os.SameFile(a, b)
}

// NewKey draws a key and, if keep is set, makes it durable before it is used. It first erases a key that an earlier
// run left, and removes a journal and exact answers: nothing was debited for them.
func (s *State) NewKey(keep bool) (key noise.Key, err error) {
	if err := s.Erase(); err != nil {
		return key, err
	}
	if err := s.removeUses(); err != nil {
		return key, err
	}
	if key, err = noise.NewKey(); err != nil || !keep {
		return key, err
	}
	err = durable.WritePrivate(s.Dir, makingKey, KeyFile, func(w io.Writer) error {
		_, err := w.Write(key[:])
		return err
	})
	if err != nil {
		return key, fmt.Errorf("state directory: %w", err)
	}
	return key, nil
}

// OldKey returns the key of a run that was cut off after its debit, and whether there is a valid one: a damaged key or
// one of zeros is not. Whether the release was debited for it is for the ledger to decide.
func (s *State) OldKey() (key noise.Key, there bool, err error) {
	b, err := os.ReadFile(filepath.Join(s.Dir, KeyFile))
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

// Erase overwrites and removes every key of the state. A key is first renamed, durably, to a name that is never read,
// so that no crash leaves zeros, or half a key, that could be taken for one. The journal and the exact answers are
// removed after the key, and never without it: a key that somebody puts back finds the rounds that it was used for.
func (s *State) Erase() error {
	if err := s.eraseLeftovers(); err != nil {
		return err
	}
	err := os.Rename(filepath.Join(s.Dir, KeyFile), filepath.Join(s.Dir, erasingKey+"0"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = durable.SyncDir(s.Dir)
	}
	if err != nil {
		return fmt.Errorf("erasing the key: %w", err)
	}
	if err := s.eraseLeftovers(); err != nil {
		return err
	}
	return s.removeUses()
}

// removeUses removes what the key was used for: the journal of the rounds, and the exact answers.
func (s *State) removeUses() error {
	paths := []string{s.JournalPath(), filepath.Join(s.Dir, AnswersFile), filepath.Join(s.Dir, PreparedFile)}
	making, err := files.Glob(s.Dir, makingAnswers+"*")
	if err == nil {
		var more []string
		more, err = files.Glob(s.Dir, makingPrepared+"*")
		making = append(making, more...)
	}
	removed := false
	for _, path := range append(paths, making...) {
		switch gone := os.Remove(path); {
		case gone == nil:
			removed = true
		case !errors.Is(gone, fs.ErrNotExist):
			err = errors.Join(err, gone)
		}
	}
	if removed {
		err = errors.Join(err, durable.SyncDir(s.Dir))
	}
	if err != nil {
		return fmt.Errorf("removing the journal and the exact answers: %w", err)
	}
	return nil
}

// LoadAnswers opens the exact answers that were stored. It returns an error that wraps [fs.ErrNotExist] if none were.
func (s *State) LoadAnswers() (io.ReadCloser, error) {
	return os.Open(filepath.Join(s.Dir, AnswersFile))
}

// HasAnswers reports whether exact answers were stored.
func (s *State) HasAnswers() bool {
	_, err := os.Stat(filepath.Join(s.Dir, AnswersFile))
	return err == nil
}

// StoreAnswers stores exact answers durably, and completely or not at all.
func (s *State) StoreAnswers(write func(io.Writer) error) error {
	return durable.WritePrivate(s.Dir, makingAnswers, AnswersFile, write)
}

// RemoveAnswers removes exact answers that an earlier run stored and did not pay for.
func (s *State) RemoveAnswers() error {
	err := os.Remove(filepath.Join(s.Dir, AnswersFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = durable.SyncDir(s.Dir)
	}
	if err != nil {
		return fmt.Errorf("removing the exact answers: %w", err)
	}
	return nil
}

// Prepare records, durably, for whom the key was made. From then on the key is used by the machines that count, and
// stays although nothing was debited for it.
func (s *State) Prepare(write func(io.Writer) error) error {
	return durable.WritePrivate(s.Dir, makingPrepared, PreparedFile, write)
}

// Prepared opens what [State.Prepare] has recorded. It returns an error that wraps [fs.ErrNotExist] if nothing was.
func (s *State) Prepared() (io.ReadCloser, error) { return os.Open(filepath.Join(s.Dir, PreparedFile)) }

// HasKeyForOtherMachines reports whether the key was made for other machines.
func (s *State) HasKeyForOtherMachines() bool {
	there, err := durable.Exists(filepath.Join(s.Dir, PreparedFile))
	return there || err != nil // if the disk does not say, the key stays
}

// JournalPath returns the path of the journal of the rounds.
func (s *State) JournalPath() string { return filepath.Join(s.Dir, JournalFile) }

// eraseLeftovers erases keys under the names that are never read.
func (s *State) eraseLeftovers() error {
	for _, pattern := range []string{makingKey + "*", erasingKey + "*"} {
		left, err := files.Glob(s.Dir, pattern)
		if err != nil {
			return fmt.Errorf("erasing the key: %w", err)
		}
		for _, path := range left {
			if err := eraseFile(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("erasing the key: %w", err)
			}
		}
	}
	return durable.SyncDir(s.Dir)
}

// Clear removes the state: the release is sealed, and the state is not needed again.
func (s *State) Clear() error {
	if err := s.Erase(); err != nil {
		return err
	}
	if err := os.RemoveAll(s.Dir); err != nil {
		return fmt.Errorf("clearing the state: %w", err)
	}
	return durable.SyncDir(filepath.Dir(s.Dir))
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

// ClearSiblings removes what earlier plans of a sealed release have left in the state directory: the details of
// refused data. A state with a key stays, as a run may resume from it, and so does one that a run has open.
func ClearSiblings(root, release string) error {
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
		held, err := durable.Lock(dir)
		if err != nil && !errors.Is(err, errors.ErrUnsupported) {
			continue
		}
		if keyed, err := durable.Exists(filepath.Join(dir, KeyFile)); err == nil && !keyed {
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
