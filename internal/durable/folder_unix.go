//go:build !windows

package durable

import (
	"fmt"
	"os"
	"syscall"
)

// SyncDir makes the names in a folder durable.
func SyncDir(dir string) error {
	d, err := os.OpenFile(dir, syscall.O_DIRECTORY, 0)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

// ErrHeld reports that another process has locked a folder.
var ErrHeld error = syscall.EWOULDBLOCK

// Lock locks a folder as long as the returned file is open. The system releases the lock when the process ends,
// however that happens. Lock does not wait: it returns [ErrHeld].
func Lock(dir string) (*os.File, error) {
	d, err := os.OpenFile(dir, syscall.O_DIRECTORY, 0)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(d.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

// Private refuses a folder that others own, can read or can write to.
func Private(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is not a folder", dir)
	}
	if owner, ok := info.Sys().(*syscall.Stat_t); ok && int(owner.Uid) != os.Geteuid() {
		return fmt.Errorf("%s belongs to another user: confidential state needs a folder of its own user (--state)",
			dir)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("%s can be entered by others: allow its owner alone (chmod 700 %s)", dir, dir)
	}
	return nil
}
