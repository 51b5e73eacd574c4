//go:build unix

package ledger

import (
	"io/fs"
	"syscall"
)

// linksTo returns the number of names of the file, according to info.
func linksTo(_ string, info fs.FileInfo) (uint64, error) {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(stat.Nlink), nil
	}
	return 1, nil
}
