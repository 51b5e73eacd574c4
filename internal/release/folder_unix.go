//go:build !windows

package release

import (
	"fmt"
	"os"
	"syscall"
)

// syncDir makes the names in a folder durable.
func syncDir(dir string) error {
	d, err := os.OpenFile(dir, syscall.O_DIRECTORY, 0)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

// errHeld says that another process holds a folder.
var errHeld error = syscall.EWOULDBLOCK

// hold locks a folder for as long as the returned file is open, which the system
// ends with the process, however that ends. It does not wait: errHeld.
func hold(dir string) (*os.File, error) {
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

// private refuses a folder that others own, can read or can write to.
func private(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is not a folder", dir)
	}
	if owner, ok := info.Sys().(*syscall.Stat_t); ok && int(owner.Uid) != os.Geteuid() {
		return fmt.Errorf("%s belongs to another user: confidential state needs a folder of its own user (--state)", dir)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("%s can be entered by others: allow its owner alone (chmod 700 %s)", dir, dir)
	}
	return nil
}
