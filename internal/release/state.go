package release

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/dprelease/dprelease/internal/noise"
)

// state is the confidential working state of one measurement run: its key,
// from before the count until the measurements are durable. It lives in a
// folder that only its owner can read.
type state struct{ dir string }

// openState opens the state of a plan below the state directory.
func openState(root, release, planHash string) (*state, error) {
	s := &state{dir: filepath.Join(root, release+"-"+planHash[:16])}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return nil, fmt.Errorf("state directory: %w", err)
	}
	return s, nil
}

func (s *state) keyPath() string { return filepath.Join(s.dir, "key") }

// key returns the run's key and whether it was left by an earlier run. Two runs
// that start at once get the same key: the file is made whole beside its place
// and linked there, which succeeds for one of them only.
func (s *state) key() (key noise.Key, resumed bool, err error) {
	if key, err = s.readKey(); err == nil {
		return key, true, nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		return key, false, err
	}
	if key, err = noise.NewKey(); err != nil {
		return key, false, err
	}
	temporary := filepath.Join(s.dir, fmt.Sprintf("key.tmp-%d", os.Getpid()))
	if err := writeDurable(temporary, key[:], 0o600); err != nil {
		return key, false, fmt.Errorf("state directory: %w", err)
	}
	defer os.Remove(temporary)
	if err := os.Link(temporary, s.keyPath()); err != nil {
		if !errors.Is(err, fs.ErrExist) {
			return key, false, fmt.Errorf("state directory: %w", err)
		}
		key, err = s.readKey()
		return key, true, err
	}
	return key, false, syncDir(s.dir)
}

func (s *state) readKey() (key noise.Key, err error) {
	b, err := os.ReadFile(s.keyPath())
	if err != nil {
		return key, err
	}
	if len(b) != len(key) {
		return key, fmt.Errorf("the key in %s is damaged", s.dir)
	}
	copy(key[:], b)
	clear(b)
	return key, nil
}

// diagnostics opens the file for confidential details of a refused input.
func (s *state) diagnostics() (*os.File, error) {
	return os.OpenFile(filepath.Join(s.dir, "diagnostics.txt"), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
}

// erase overwrites and removes the key, and what a run that was killed while
// making one left of it, and the folder if nothing else is in it.
func (s *state) erase() error {
	left, err := filepath.Glob(filepath.Join(s.dir, "key.tmp-*"))
	if err != nil {
		return fmt.Errorf("erasing the key: %w", err)
	}
	for _, path := range append(left, s.keyPath()) {
		if err := eraseFile(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("erasing the key: %w", err)
		}
	}
	os.Remove(s.dir)
	return nil
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
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return err
	}
	return os.Remove(path)
}
