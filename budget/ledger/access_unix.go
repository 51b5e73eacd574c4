//go:build unix

package ledger

// The access of this user to a file, checked without opening it.

import (
	"os"
	"syscall"
)

// mayWrite reports whether this user may write the file or folder.
func mayWrite(path string) bool {
	const write = 2 // W_OK
	return syscall.Access(path, write) == nil
}

// syncFolder makes a new name in the folder durable.
func syncFolder(path string) error {
	folder, err := os.OpenFile(path, syscall.O_DIRECTORY, 0)
	if err != nil {
		return err
	}
	defer folder.Close()
	return folder.Sync()
}
