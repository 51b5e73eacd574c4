//go:build unix

package keyfile

import (
	"fmt"
	"os"
)

// checkPrivate returns an error for a file that others than its owner can read or write.
func checkPrivate(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("%s can be read by others than its owner, so it is no secret: chmod 600 it if it always "+
			"was one, else make a new key", path)
	}
	return nil
}
