package durable

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// MakeFolder makes a folder and its parents unless they exist, and makes its name durable.
func MakeFolder(dir string, mode fs.FileMode) error {
	there, err := Exists(dir)
	if err != nil {
		return err
	}
	if there {
		return os.MkdirAll(dir, mode) // an error if it is no folder
	}
	if parent := filepath.Dir(dir); parent != dir {
		if err := MakeFolder(parent, 0o755); err != nil {
			return err
		}
	}
	if err := os.Mkdir(dir, mode); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return SyncDir(filepath.Dir(dir))
}

// Exists reports whether there is anything at a path.
func Exists(path string) (bool, error) {
	_, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) { // there is nothing below a file
		return false, nil
	}
	return err == nil, err
}

// WritePrivate writes a file that only its owner can read, durably, and completely or not at all. Until it is complete
// its name begins with making.
func WritePrivate(dir, making, name string, write func(io.Writer) error) error {
	f, err := os.CreateTemp(dir, making+"*") // mode 0600
	if err != nil {
		return err
	}
	err = write(f)
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), filepath.Join(dir, name))
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return SyncDir(dir)
}
