//go:build unix

package ledger

import (
	"io/fs"
	"syscall"
)

// areOnOneDisk reports whether two folders lie on one file system.
func areOnOneDisk(_ []string, of [2]fs.FileInfo) bool {
	a, ok := of[0].Sys().(*syscall.Stat_t)
	b, ok2 := of[1].Sys().(*syscall.Stat_t)
	return ok && ok2 && a.Dev == b.Dev
}
