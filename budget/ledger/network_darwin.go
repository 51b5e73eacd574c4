package ledger

import (
	"io/fs"

	"golang.org/x/sys/unix"
)

// networkOf returns the network file system that path lies on, and "" for a local one.
func networkOf(path string) (string, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(path, &s); err != nil {
		return "", &fs.PathError{Op: "statfs", Path: path, Err: err}
	}
	if s.Flags&unix.MNT_LOCAL != 0 {
		return "", nil
	}
	return unix.ByteSliceToString(s.Fstypename[:]), nil // nfs, smbfs, afpfs, webdav, macfuse …
}
